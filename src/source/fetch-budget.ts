import { isSamePartition, type RecordBatchHeader } from './record-batch-header.ts';

/** What kafkajs makes of one record beside its bytes: an object, its texts and views. Measured. */
const RECORD_OVERHEAD_BYTES = 512;

/**
 * Bounds what one answer to a fetch may grow to. kafkajs decodes all of an answer before it hands
 * out any of it, so a limit on a batch is none on the answer: 16 MB of it may hold 16 batches that
 * grow a thousandfold, or millions of empty records.
 *
 * Beyond the budget no further batch of a partition is decoded; the next fetch begins there. The
 * first batch of each partition always is, or there would be no progress.
 */
export class FetchBudget {
  readonly #maxBytes: number;
  readonly #answers = new WeakMap<ArrayBufferLike, { end: number; bytes: number }>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Whether a batch may still be decoded now. */
  allows(answer: ArrayBufferLike, header: RecordBatchHeader): boolean {
    const spent = this.#answers.get(answer);
    if (spent === undefined || spent.bytes < this.#maxBytes) return true;
    return !isSamePartition(answer, spent.end, header.start);
  }

  /** Notes what a batch has become. */
  spend(answer: ArrayBufferLike, header: RecordBatchHeader, inflatedBytes: number): void {
    const bytes = inflatedBytes + header.recordCount * RECORD_OVERHEAD_BYTES;
    const spent = this.#answers.get(answer);
    if (spent === undefined) {
      this.#answers.set(answer, { end: header.end, bytes });
      return;
    }
    // Small answers share a buffer: one that lies before the last is not of the same answer.
    spent.bytes = (header.start < spent.end ? 0 : spent.bytes) + bytes;
    spent.end = header.end;
  }
}
