import type { AnomalyEvent } from '../detect/event/anomaly-event.ts';

/** Context attributes of CloudEvents 1.0, by their specified names. */
export interface CloudEventAttributes {
  readonly specversion: '1.0';
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly time: string;
  readonly subject: string;
}

export interface CloudEvent {
  readonly attributes: CloudEventAttributes;
  /** The event as JSON: the same bytes on every transport. */
  readonly body: string;
}

/** Media type of every body. */
export const cloudEventContentType = 'application/json';

/**
 * Encodes the anomaly event as a CloudEvent. Its id is the anomaly's with the revision, so receivers
 * recognize repeated deliveries.
 */
export function cloudEvent(event: AnomalyEvent, source = 'tailmark'): CloudEvent {
  return {
    attributes: {
      specversion: '1.0',
      id: `${event.id}-${event.revision}`,
      source,
      type: `io.tailmark.anomaly.${event.state}.v1`,
      time: event.emitted_at,
      subject: event.dedup_key,
    },
    body: JSON.stringify(event),
  };
}
