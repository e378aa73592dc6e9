import type { AnomalyEvent } from '../detect/event/anomaly-event.ts';

/** A destination of anomaly events: a topic, a webhook, a table. */
export interface AlertTarget {
  /** For logs and the metrics label; holds no secret. */
  readonly name: string;
  /**
   * Resolves when the event is delivered. A rejection is final: targets retry by themselves. Receivers
   * recognize repeated deliveries by the event's id and revision.
   */
  deliver(event: AnomalyEvent): Promise<void>;
}
