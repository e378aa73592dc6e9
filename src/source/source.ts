import type { RecordBatch } from './record.ts';

export interface CommittedOffset {
  /** undefined without a commit. */
  readonly offset: number | undefined;
  readonly metadata: string;
}

/** A partition while this process owns it. A rebalance ends all claims, then makes new ones. */
export interface Claim {
  readonly topic: string;
  readonly partition: number;
  readonly isLost: boolean;
  /**
   * Commits an offset with metadata, fenced: it has no effect once another member may own the partition.
   * Repeating the same commit changes nothing.
   *
   * @throws ClaimLostError when the claim is lost; any other error has an unknown outcome.
   */
  commit(offset: number, metadata: string): Promise<void>;
  /** Reads nothing of the partition until `readAgain`. Both are absent where nothing can be read twice. */
  pause?(): void;
  /**
   * Loses the paused claim and claims the partition again: the next records are those after the commit. Not
   * before fetches from before the pause have ended (30 s).
   */
  readAgain?(): void;
}

/** Names a claim's partition: `timings/3`. */
export function claimName({ topic, partition }: Pick<Claim, 'topic' | 'partition'>): string {
  return `${topic}/${partition}`;
}

/** Its labels in metrics. */
export function claimLabels({ topic, partition }: Claim) {
  return { topic, partition: String(partition) };
}

export interface EpochEnd {
  /** Leader epoch of the record before `endOffset`; -1 while unknown. */
  readonly leaderEpoch: number;
  readonly endOffset: number;
}

/** State of a partition when it is claimed. */
export interface FoundPartition {
  /** See log-id.ts. */
  readonly logId: string;
  readonly committed: CommittedOffset;
  /** The log holds offsets [startOffset, endOffset). */
  readonly startOffset: number;
  readonly endOffset: number;
  /** Offset of the first record with this timestamp or a later one; `endOffset` without one. */
  firstOffsetAt(timestampMs: number): Promise<number>;
  /**
   * End of a leader epoch in the log, or of the latest earlier one that it has (KIP-101). undefined where the
   * source cannot tell.
   */
  endOfEpoch(leaderEpoch: number): Promise<EpochEnd | undefined>;
}

/** A partition without commits, ids and a known end, as of a file. */
export const emptyPartition: FoundPartition = {
  logId: '',
  committed: { offset: undefined, metadata: '' },
  startOffset: 0,
  endOffset: 0,
  firstOffsetAt: async () => 0,
  endOfEpoch: async () => undefined,
};

/** End in the present log of the records that were read, given the leader epoch of the last one. */
export async function remainingEnd(leaderEpoch: number, found: FoundPartition): Promise<EpochEnd> {
  const end = leaderEpoch < 0 ? undefined : await found.endOfEpoch(leaderEpoch);
  if (end === undefined) return { leaderEpoch: -1, endOffset: found.endOffset };
  return { ...end, endOffset: Math.min(end.endOffset, found.endOffset) };
}

/** Start of reading. */
export interface ReadPosition {
  readonly offset: number;
  /** Offset after the last record that was read before: `offset`, or later where reading goes back. */
  readonly knownTo: number;
  /** Leader epoch of the record before `knownTo`; -1 where it is not known. */
  readonly leaderEpoch: number;
}

/** Another member owns the partition, or may: drop its state, undo nothing. */
export class ClaimLostError extends Error {
  override readonly name = 'ClaimLostError';
}

export interface SourceHandler {
  /**
   * Returns where to start reading a claimed partition. It is called before the first read, and again after a
   * failure.
   */
  onClaimed(claim: Claim, found: FoundPartition): Promise<ReadPosition>;
  /**
   * Receives records of one claim, in order. The claim's next batch follows when this resolves; batches of
   * other claims may come meanwhile. `keepAlive` throws ClaimLostError once the claim is lost.
   */
  onBatch(claim: Claim, batch: RecordBatch, keepAlive: () => Promise<void>): Promise<void>;
  /** Stores what was read of claims that end soon. It has a few seconds. */
  onRevoking?(claims: readonly Claim[]): Promise<void>;
  /** Drops a lost claim: whatever is not stored does not count. */
  onLost(claim: Claim): void;
}

/** A source of events: Kafka, a file, standard input. */
export interface Source {
  /** Used in ledger rows and tokens. */
  readonly groupId: string;
  /** Resolves once reading has started. */
  start(handler: SourceHandler): Promise<void>;
  /** Resolves at the end of a finite source; rejects when reading cannot continue. */
  readonly done: Promise<void>;
  /** True if the claim of a partition is paused. */
  isPaused?(topic: string, partition: number): boolean;
  /** Reasons why reading is unhealthy; empty or absent when it is healthy. */
  problems?(): readonly string[];
  /** Facts that an operator should know of a healthy source. */
  notes?(): readonly string[];
  /** Delivers no further batch; claims can still commit. */
  quiesce(): void;
  /** Releases everything; claims are lost. */
  stop(): Promise<void>;
}
