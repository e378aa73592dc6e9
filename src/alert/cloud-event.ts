import type { AnomalyEvent } from '../contract/anomaly-event.ts';

/** Media type of every body. */
export const cloudEventContentType = 'application/json';

/**
 * Encodes the anomaly event as a CloudEvent. Its id is the anomaly's with the revision, so receivers
 * recognize repeated deliveries.
 */
export function cloudEvent(event: AnomalyEvent) {
  return {
    /** Context attributes of CloudEvents 1.0, by their specified names. */
    attributes: {
      specversion: '1.0',
      id: `${event.id}-${event.revision}`,
      source: 'tailmark',
      type: `io.tailmark.anomaly.${event.state}.v1`,
      time: event.emitted_at,
      subject: event.dedup_key,
    },
    /** The event as JSON: the same bytes on every transport. */
    body: JSON.stringify(event),
  };
}

export type CloudEvent = ReturnType<typeof cloudEvent>;
