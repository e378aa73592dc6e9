import type { AnomalyEvent } from '../detect/event/anomaly-event.ts';

/** Somewhere anomaly events go: a topic, a webhook, a table. */
export interface AlertTarget {
  /** For logs and the metrics label; holds no secret. */
  readonly name: string;
  /**
   * Resolves when the event has been taken over. A rejection is final: retrying is the target's
   * own affair, and receivers tell repeated deliveries by the event's id and revision.
   */
  deliver(event: AnomalyEvent): Promise<void>;
}
