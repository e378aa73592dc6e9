import type { AnomalyEvent, Severity } from '../../contract/anomaly-event.ts';
import type { DeliveryRow } from '../../sink/anomalies/delivery-store.ts';
import type { Answer, Form, Notice } from '../receiver.ts';

/** Outcome of an attempt; the last three settle a revision without delivering it. */
export type Outcome = Answer['outcome'] | 'refused' | 'expired' | 'skipped';

/** A row of the table `deliveries` before it has a time. */
export type UntimedRow = Omit<DeliveryRow, 'atMs'>;

/** One attempt that is to be made. */
export interface Delivery {
  readonly notice: Notice;
  readonly form: Form;
  readonly attempt: number;
  /** True where it only repeats the state that was accepted before. */
  readonly isRenewal: boolean;
  /** Since when it has been due, in monotonic milliseconds. */
  readonly dueSinceMs: number;
  /** Row to store before the attempt; undefined where the rows so far say as much. */
  readonly begun: UntimedRow | undefined;
}

/** State of an anomaly at a receiver, as a predecessor delivered it. */
export interface DeliveredBefore {
  /** Last revision that was accepted, refused, expired or skipped. */
  readonly settledRevision: number;
  readonly accepted: Accepted | undefined;
  /** True where it may have been accepted though no row says so: its process was killed, or got no answer. */
  readonly mayHaveArrived: boolean;
}

/** The last accepted delivery of an anomaly. */
export interface Accepted {
  readonly state: AnomalyEvent['state'];
  /** Highest severity that was accepted. */
  readonly severity: Severity;
  readonly memory: string;
}
