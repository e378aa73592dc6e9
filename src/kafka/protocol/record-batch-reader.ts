import { limits } from '../../base/limits.ts';
import { OperatorError } from '../../base/operator-error.ts';
import { inflateRecords } from '../compression/compression.ts';
import { InflateError } from '../compression/inflate-error.ts';
import { crc32c } from './crc32c.ts';
import {
  type BatchPart,
  FetchedRecords,
  type LogEdges,
  noGaps,
  type OffsetGap,
} from './fetched-records.ts';
import { type RecordBatchHeader, recordBatchHeader } from './record-batch-header.ts';
import { recordProblem } from './validate-records.ts';

/** Inflated bytes per fetch response, in multiples of the largest batch. */
const BATCHES_AT_ONCE = 4;
/** Corrupt batches that are being fetched again, over all partitions. */
const MOST_FETCHED_AGAIN = 1_000;

/** An aborted transaction: its records from an offset up to its marker are skipped. */
export interface AbortedTransaction {
  readonly producerId: bigint;
  readonly firstOffset: number;
}

type Part = Omit<BatchPart, 'gapsBefore'>;

export interface ResponseBudget {
  inflatedBytes: number;
}

/**
 * Reads a partition's record batches from a fetch response.
 *
 * A batch that is too large, corrupt, or of an unknown codec becomes as many rejected records as its header
 * states. Its offsets are consumed, and each record counts as rejected (`undecodable_batch`). Aborted
 * transactions and transaction markers are left out (isolation level `read_committed`).
 *
 * The checksum of every batch is verified, at some 40 ns per uncompressed record of 290 bytes. A batch whose
 * checksum differs is fetched once more, in case its bytes changed on the way. If it differs again, the batch
 * is rejected, whatever its header says it is.
 *
 * All batches of a response are inflated before the first is delivered, so a limit per batch does not limit
 * the response. 16 MB may contain 16 batches that inflate a thousandfold. After four batches' worth, no
 * further batch of a partition is read, and the next fetch begins there. The first batch of each partition is
 * always read, to guarantee progress.
 */
export class RecordBatchReader {
  readonly #maxBytes: number;
  /** Batches whose checksum differed once, by offset and checksum. */
  readonly #fetchedAgain = new Set<string>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * @param bytes record batches, of which the last may be truncated.
   * @param onPassed is called when the last record has been passed.
   * @throws OperatorError for a message format before Kafka 0.11 (2017), and for more records than can be
   *   rejected one by one.
   */
  async read(
    bytes: Buffer,
    abortedTransactions: readonly AbortedTransaction[],
    budget: ResponseBudget,
    onPassed: () => void = () => undefined,
  ): Promise<FetchedRecords> {
    const transactions = new AbortedTransactions(abortedTransactions);
    const parts: BatchPart[] = [];
    let last: RecordBatchHeader | undefined;
    /** Last offset of the last corrupt batch, as its header says. */
    let corruptUntil = -1;
    const removed = new RemovedOffsets();
    for (let at = 0, count = 0; at < bytes.length; count++) {
      const header = recordBatchHeader(bytes, at);
      if (header === 'unknown') throw tooOld();
      if (header === 'truncated') break;
      if (header.baseOffset <= corruptUntil) throw outOfOrder(header, corruptUntil);
      const checksum = crc32c(bytes.subarray(header.checkedStart, header.end));
      const isIntact = checksum === header.checksum;
      if (!isIntact && this.#fetchAgain(header)) break;
      if (!header.isPlausible) throw isIntact ? tooOld() : implausible(header);
      const isHidden = transactions.hide(header) || header.isControl;
      if (!isIntact || (header.recordCount > 0 && !isHidden)) {
        if (count > 0 && budget.inflatedBytes >= this.#maxBytes * BATCHES_AT_ONCE) break;
        const gapsBefore = removed.beforePart(header);
        const part = isIntact ? await this.#part(bytes, header) : corruptPart(header, checksum);
        budget.inflatedBytes += header.codec === 0 ? 0 : part.bytes.length;
        parts.push({ ...part, gapsBefore });
      } else removed.pass(header, isHidden);
      last = header;
      if (!isIntact) corruptUntil = header.lastOffset;
      at = header.end;
    }
    return new FetchedRecords(parts, last, onPassed, removed.edges);
  }

  /** True the first time that the checksum of this batch differs. */
  #fetchAgain({ baseOffset, checksum }: RecordBatchHeader): boolean {
    const name = `${baseOffset}/${checksum}`;
    if (this.#fetchedAgain.delete(name)) return false;
    if (this.#fetchedAgain.size >= MOST_FETCHED_AGAIN) this.#fetchedAgain.clear();
    this.#fetchedAgain.add(name);
    return true;
  }

  async #part(bytes: Buffer, header: RecordBatchHeader): Promise<Part> {
    const packed = bytes.subarray(header.recordsStart, header.end);
    try {
      const inflated = inflateRecords(packed, header.codec, this.#maxBytes);
      const records = inflated instanceof Promise ? await inflated : inflated;
      const problem = recordProblem(records, header.recordCount);
      if (problem !== undefined) throw new InflateError(`contain whole records: ${problem}`);
      return { header, bytes: records, refused: undefined };
    } catch (error) {
      if (!(error instanceof InflateError)) throw error;
      return refusedPart(header, packed.length, error.message);
    }
  }
}

/**
 * Counts offsets of a response that no batch has, and those of batches that compaction has emptied. Markers and
 * aborted records are in separate batches: nothing of those is removed.
 */
class RemovedOffsets {
  #firstOffset = -1;
  #next = -1;
  #gaps: OffsetGap[] = [];

  /** Passes a visible batch; returns what is removed between it and the visible one before. */
  beforePart(header: RecordBatchHeader): readonly OffsetGap[] {
    this.#advance(header);
    if (this.#gaps.length === 0) return noGaps;
    const gaps = this.#gaps;
    this.#gaps = [];
    return gaps;
  }

  /** Passes a batch that shows no record. */
  pass(header: RecordBatchHeader, isHidden: boolean): void {
    this.#advance(header);
    if (!isHidden) this.#add(header.baseOffset, header.lastOffset + 1);
  }

  get edges(): LogEdges {
    return { firstOffset: this.#firstOffset, gapsAtEnd: this.#gaps };
  }

  #advance({ baseOffset, lastOffset }: RecordBatchHeader): void {
    if (this.#firstOffset < 0) this.#firstOffset = baseOffset;
    else if (baseOffset > this.#next) this.#add(this.#next, baseOffset);
    this.#next = lastOffset + 1;
  }

  #add(start: number, end: number): void {
    this.#gaps.push({ start, end });
  }
}

/** Finds the batches of aborted transactions. `hide` must be called for each batch in order. */
class AbortedTransactions {
  readonly #left: AbortedTransaction[];
  readonly #open = new Set<bigint>();

  /** @param transactions in any order; brokers list them in the order of their aborts. */
  constructor(transactions: readonly AbortedTransaction[]) {
    this.#left = transactions.toSorted((a, b) => b.firstOffset - a.firstOffset);
  }

  hide({ lastOffset, producerId, isTransactional, isControl }: RecordBatchHeader): boolean {
    for (let next = this.#left.at(-1); next !== undefined && next.firstOffset <= lastOffset; ) {
      this.#open.add(next.producerId);
      this.#left.pop();
      next = this.#left.at(-1);
    }
    if (isControl) this.#open.delete(producerId);
    return isTransactional && this.#open.has(producerId);
  }
}

const codecNames = ['uncompressed', 'gzip', 'snappy', 'lz4', 'zstd'];

function refusedPart(header: RecordBatchHeader, bytes: number, rule: string): Part {
  const { baseOffset, lastOffset, recordCount, codec } = header;
  if (recordCount > limits.recordsPerRefusedBatch) throw tooMany(header);
  const hint = rule.startsWith('inflate') ? ' (limits.max_batch_bytes)' : '';
  const range = `offsets ${baseOffset} to ${lastOffset}`;
  const name = codecNames[codec] ?? `codec ${codec}`;
  return {
    header,
    bytes: Buffer.alloc(0),
    refused: {
      reason: 'undecodable_batch',
      detail: `The record batch must ${rule}${hint}: ${range}, ${recordCount} records, ${name}, ${bytes} bytes`,
      originalBytes: bytes,
    },
  };
}

/** At least one record is rejected, so that a corrupt count of 0 does not go unnoticed. */
function corruptPart(stated: RecordBatchHeader, checksum: number): Part {
  const header = { ...stated, recordCount: Math.max(1, stated.recordCount) };
  const [right, found] = [header.checksum, checksum].map(hexOf);
  const rule = `have the checksum that it states, ${right}: the checksum of its bytes is ${found}`;
  return refusedPart(header, header.end - header.recordsStart, rule);
}

function hexOf(crc: number): string {
  return crc.toString(16).padStart(8, '0');
}

/** The header of the batch before is corrupt: how many offsets it had is unknown. */
function outOfOrder({ baseOffset }: RecordBatchHeader, corruptUntil: number): OperatorError {
  const rule = `whose checksum differs must end before the next one, at ${baseOffset}`;
  return unreadable(`${rule}; it says that it ends at ${corruptUntil}`, ' by hand');
}

function implausible({ baseOffset, lastOffset, recordCount }: RecordBatchHeader): OperatorError {
  const range = `its header says offsets ${baseOffset} to ${lastOffset}`;
  const rule = 'whose checksum differs must have offsets for its records';
  return unreadable(`${rule}; ${range} and ${recordCount} records`, ' by hand');
}

function tooMany({ baseOffset, lastOffset, recordCount }: RecordBatchHeader): OperatorError {
  const most = limits.recordsPerRefusedBatch;
  return unreadable(
    `that cannot be decoded must contain at most ${most} records; the batch at offsets ${baseOffset} to ` +
      `${lastOffset} contains ${recordCount}`,
    ` by hand: stop tailmark, then kafka-consumer-groups.sh --reset-offsets --to-offset ${lastOffset + 1} ` +
      '--topic TOPIC:PARTITION --group GROUP --execute',
  );
}

function tooOld(): OperatorError {
  return unreadable('must have format v2 (Kafka 0.11 or later); it does not', '');
}

function unreadable(rule: string, how: string): OperatorError {
  const error = new OperatorError(
    'TAILMARK_BATCH_UNREADABLE',
    `Cannot continue reading from Kafka: a record batch ${rule}`,
    { hint: `Skip it${how}. See docs/reference/limits.md.` },
  );
  // kafkajs must not fetch the same batch again.
  return Object.assign(error, { retriable: false });
}
