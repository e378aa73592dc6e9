import type { Chunk } from '../sink/chunks/chunk.ts';
import { truncatedId } from '../source/log-id.ts';
import type { ChunkBegin } from './chunk/open-chunk.ts';
import type { Intent } from './commit-metadata.ts';
import type { StartPosition, UnstoredLog } from './start-position.ts';

/** The part of a claim that its open chunk is of. A claim has one or several, in this order. */
type Part =
  /** A predecessor's pending chunk: it must be sealed exactly at `endOffset`. */
  | { readonly of: 'predecessor'; readonly intent: Intent; readonly endOffset: number }
  /** Lost records of a log that is gone, until the ledger has them. */
  | { readonly of: 'lost_log' }
  /** The log that is there. */
  | { readonly of: 'log' };

/**
 * The range of a claim's open chunk: where it begins, what of it is removed, and where it must end. Pure: it is a
 * function of the start position and of the chunks that were sealed.
 */
export class OpenRange {
  readonly #start: StartPosition;
  #part: Part;
  #begin: ChunkBegin;

  constructor(start: StartPosition) {
    this.#start = start;
    const { lost, leaderEpoch, watermarkMs = Number.NEGATIVE_INFINITY } = start;
    const { intent, logId, startOffset } = lost ?? start;
    this.#part = this.#firstPart(intent);
    this.#begin = { logId, startOffset, watermarkMs, leaderEpoch };
  }

  get begin(): ChunkBegin {
    // The leader of records that are gone says nothing of the log from here on.
    return this.removedTo === undefined ? this.#begin : { ...this.#begin, leaderEpoch: -1 };
  }

  /** The predecessor's intent for it; undefined for a chunk of this process. */
  get inherited(): Intent | undefined {
    return this.#part.of === 'predecessor' ? this.#part.intent : undefined;
  }

  /** Offset at which an inherited chunk's records end; undefined for another chunk. */
  get boundary(): number | undefined {
    return this.#part.of === 'predecessor' ? this.#part.endOffset : undefined;
  }

  /** Offset up to which its first records are removed; undefined where they are there. */
  get removedTo(): number | undefined {
    const end = Math.min(this.#readOffset, this.boundary ?? Number.POSITIVE_INFINITY);
    return this.#begin.startOffset < end ? end : undefined;
  }

  /** True if it has no records left to read: it is sealed without one. */
  get isRemoved(): boolean {
    const { boundary } = this;
    if (boundary !== undefined) return this.#readOffset >= boundary;
    return this.#begin.startOffset < this.#readOffset;
  }

  /**
   * What is known of its log and not stored, for the next owner of the partition.
   *
   * @param nextOffset after the records that were read.
   * @param highWatermark end of the log that is there, as last seen.
   */
  unstored(nextOffset: number, highWatermark: number): UnstoredLog {
    const end = this.#isOfLostLog ? 0 : highWatermark;
    const endOffset = Math.max(end, this.#readOffset, nextOffset);
    return { ...this.begin, endOffset, intent: this.inherited };
  }

  /** Goes on to the range after a chunk, which was sealed of this one. */
  pass(chunk: Chunk): void {
    const reached = this.#part.of === 'predecessor' ? this.#afterInherited(chunk) : after(chunk);
    const isLostLogLeft = this.#isOfLostLog && reached.startOffset < this.#readOffset;
    // The log that is there begins once the ledger has all that is lost of the one before.
    this.#begin = this.#isOfLostLog && !isLostLogLeft ? this.#beginOfLog() : reached;
    this.#part = { of: isLostLogLeft ? 'lost_log' : 'log' };
  }

  get #isOfLostLog(): boolean {
    return this.#start.lost !== undefined && this.#part.of !== 'log';
  }

  /** Offset at which reading begins in the log of the range: records before it are removed. */
  get #readOffset(): number {
    const { lost, readOffset } = this.#start;
    return lost === undefined || this.#part.of === 'log' ? readOffset : lost.endOffset;
  }

  #firstPart(intent: Intent | undefined): Part {
    const { lost, truncatedAt } = this.#start;
    if (intent === undefined) return { of: lost === undefined ? 'log' : 'lost_log' };
    const { endOffset } = intent;
    return {
      of: 'predecessor',
      intent,
      endOffset: Math.min(endOffset, truncatedAt?.endOffset ?? endOffset),
    };
  }

  #afterInherited(chunk: Chunk): ChunkBegin {
    const { truncatedAt } = this.#start;
    if (truncatedAt === undefined) return after(chunk);
    const { endOffset: startOffset, leaderEpoch } = truncatedAt;
    return { ...after(chunk), logId: truncatedId(chunk.logId), startOffset, leaderEpoch };
  }

  #beginOfLog(): ChunkBegin {
    const { logId, startOffset, leaderEpoch } = this.#start;
    return { logId, startOffset, watermarkMs: Number.NEGATIVE_INFINITY, leaderEpoch };
  }
}

/** Start of the chunk after another one. */
function after({ logId, endOffset, watermarkMs, leaderEpoch }: Chunk): ChunkBegin {
  return { logId, startOffset: endOffset, watermarkMs, leaderEpoch };
}
