import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import type { Answer, Receiver } from '../receiver.ts';
import type { NewVersion } from '../receivers/payloads/pagerduty-event.ts';

/** A receiver, and which anomalies it gets. */
export interface Route {
  readonly receiver: Receiver;
  /** Name in the configuration, which several addresses of one receiver share. */
  readonly name: string;
  /** The condition that an anomaly does not meet, as text; undefined where the receiver gets it. */
  readonly unmet: (event: AnomalyEvent) => string | undefined;
  /** True for the topic: it gets what is muted too. */
  readonly ignoresMutes: boolean;
  /** Says that a version of a model is new; undefined where the receiver is not to learn of that. */
  readonly sendChange?: ((version: NewVersion) => Promise<Answer>) | undefined;
}
