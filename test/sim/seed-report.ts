import type { FaultKind } from './fault-kinds.ts';

/** What one seed came to, as a worker thread tells it. */
export interface SeedReport {
  readonly seed: number;
  /** What is wrong; empty where everything is stored, once. */
  readonly problems: readonly string[];
  readonly eventCount: number;
  readonly recordCount: number;
  readonly virtualMs: number;
  /** How often each kind of fault happened. */
  readonly faults: ReadonlyMap<FaultKind, number>;
  /** The same for the same run, to its last event. */
  readonly fingerprint: number;
}
