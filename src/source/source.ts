import type { RecordBatch } from './record.ts';

/** What was committed for a partition: the next offset to read, and what was noted with it. */
export interface CommittedOffset {
  /** undefined where the group has committed nothing. */
  readonly offset: number | undefined;
  readonly metadata: string;
}

/**
 * A partition, for as long as this process is the one to read it. When the group rebalances every
 * claim is lost, also those on partitions that come back: they come back as new claims.
 */
export interface Claim {
  readonly topic: string;
  readonly partition: number;
  readonly isLost: boolean;
  /**
   * Commits an offset with metadata, fenced: it never takes effect once another member may have
   * the partition. Committing the same again changes nothing.
   *
   * @throws ClaimLostError when the claim is lost; any other error has an unknown outcome.
   */
  commit(offset: number, metadata: string): Promise<void>;
}

/** A partition as it is found when it is claimed. */
export interface FoundPartition {
  readonly committed: CommittedOffset;
  /** The log holds offsets [startOffset, endOffset). */
  readonly startOffset: number;
  readonly endOffset: number;
  /** The first record at least so late, by its own timestamp; `endOffset` if there is none. */
  firstOffsetAt(timestampMs: number): Promise<number>;
}

/** The partition is, or may be, another member's by now: drop its state, undo nothing. */
export class ClaimLostError extends Error {
  override readonly name = 'ClaimLostError';
}

/** Takes what a source reads. */
export interface SourceHandler {
  /**
   * A partition is claimed: gives the offset at which to begin to read it. Nothing of it is read
   * before. Called again after a failure.
   */
  onClaimed(claim: Claim, found: FoundPartition): Promise<number>;
  /**
   * Records of one claim, in order; a claim's next batch comes when this resolves, other claims'
   * batches may come meanwhile. `keepAlive` tells by a ClaimLostError that nobody waits for it
   * any more.
   */
  onBatch(claim: Claim, batch: RecordBatch, keepAlive: () => Promise<void>): Promise<void>;
  /**
   * Whether a claim's log is not the one any more that it was placed in: its topic was made anew.
   * Asked where that may have happened unseen. Absent: no source of it can be made anew.
   */
  isAnotherLog?(claim: Claim, found: FoundPartition): Promise<boolean>;
  /** The claim is lost: nothing of it that is not stored counts. */
  onLost(claim: Claim): void;
}

/** Where events come from: Kafka, a file, standard input. */
export interface Source {
  /** Named in ledger rows and tokens. */
  readonly groupId: string;
  /** Begins to read; resolves once it does. */
  start(handler: SourceHandler): Promise<void>;
  /** Resolves at the end of a source that has one; rejects when reading cannot go on. */
  readonly done: Promise<void>;
  /** Why reading does not go on as it should; empty, or absent, when it does. */
  problems?(): readonly string[];
  /** Hands out no further batch; claims can still commit. */
  quiesce(): void;
  /** Gives back what it holds. Claims are lost. */
  stop(): Promise<void>;
}
