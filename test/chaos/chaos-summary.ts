import type { FaultKind } from './fault-kinds.ts';
import type { Drain, SelfExit } from './member-fleet.ts';

/** What came of a run. */
export interface ChaosSummary {
  readonly seed: string;
  /** How often each fault happened. */
  readonly cycles: Readonly<Record<FaultKind, number>>;
  readonly events: number;
  readonly messages: number;
  readonly partitions: number;
  /** Every number of the tables and of the ledger that is not what it must be, in words. */
  readonly differences: readonly string[];
  /** Counts and sums that were compared. */
  readonly compared: number;
  /** What `tailmark verify` said. */
  readonly verify: { readonly ok: boolean; readonly problems: readonly string[] };
  readonly sessionTimeoutMs: number;
  /** From each kill -9 of an ingester to its partitions' first chunk in the ledger elsewhere. */
  readonly takeoverMs: readonly number[];
  readonly drains: readonly Drain[];
  /** Chunks that one process began and another finished. */
  readonly inheritedIntents: number;
  /** Processes that stood still until others had their partitions, and went on. */
  readonly zombiesResumed: number;
  /** Requests that the proxy harmed. */
  readonly requestsHit: number;
  /** Processes that ended by themselves, and were started anew. */
  readonly selfExits: readonly SelfExit[];
  /** How often the server died by itself, and was started anew. */
  readonly clickhouseDeaths: number;
  readonly elapsedMs: number;
}
