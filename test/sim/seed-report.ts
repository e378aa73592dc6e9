import type { FaultKind } from './fault-kinds.ts';

/** Result of one seed, as a worker thread reports it. */
export interface SeedReport {
  readonly seed: number;
  /** Problems; empty where everything is stored, once. */
  readonly problems: readonly string[];
  readonly eventCount: number;
  readonly recordCount: number;
  readonly virtualMs: number;
  /** Number of occurrences of each kind of fault. */
  readonly faults: ReadonlyMap<FaultKind, number>;
  /** Equal for equal runs, to the last event. */
  readonly fingerprint: number;
}
