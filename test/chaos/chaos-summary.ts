import type { FaultKind } from './fault-kinds.ts';
import type { Drain, SelfExit } from './member-fleet.ts';

/** Result of a run. */
export interface ChaosSummary {
  readonly seed: string;
  /** Number of occurrences of each fault. */
  readonly cycles: Readonly<Record<FaultKind, number>>;
  readonly events: number;
  readonly messages: number;
  readonly partitions: number;
  /** Differences of the tables and the ledger from the expected numbers, in words. */
  readonly differences: readonly string[];
  /** Counts and sums that were compared. */
  readonly compared: number;
  /** Result of `tailmark verify`. */
  readonly verify: { readonly ok: boolean; readonly problems: readonly string[] };
  readonly sessionTimeoutMs: number;
  /** Times from each kill -9 of an ingester to its partitions' first chunk in the ledger elsewhere. */
  readonly takeoverMs: readonly number[];
  readonly drains: readonly Drain[];
  /** Chunks that one process started and another finished. */
  readonly inheritedIntents: number;
  /** Processes that stood still until others had their partitions, and resumed. */
  readonly zombiesResumed: number;
  /** Requests that the proxy disturbed. */
  readonly requestsHit: number;
  /** Processes that ended by themselves, and were restarted. */
  readonly selfExits: readonly SelfExit[];
  /** Deaths of the server by itself; it was restarted each time. */
  readonly clickhouseDeaths: number;
  readonly elapsedMs: number;
}
