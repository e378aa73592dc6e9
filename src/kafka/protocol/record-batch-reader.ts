import { exitCodes } from '../../base/exit-codes.ts';
import { limits } from '../../base/limits.ts';
import { OperatorError } from '../../base/operator-error.ts';
import { inflateRecords } from '../compression/compression.ts';
import { InflateError } from '../compression/inflate-error.ts';
import { type BatchPart, FetchedRecords } from './fetched-records.ts';
import { type RecordBatchHeader, recordBatchHeader } from './record-batch-header.ts';
import { recordProblem } from './validate-records.ts';

/** Record batches of this many times the largest may be held at once, out of one fetch. */
const BATCHES_AT_ONCE = 4;

/** A transaction that was aborted: its records, from an offset up to its mark, are none. */
export interface AbortedTransaction {
  readonly producerId: bigint;
  readonly firstOffset: number;
}

/** What one answer to a fetch has grown to so far. */
export interface AnswerBudget {
  inflatedBytes: number;
}

/**
 * Reads a partition's record batches out of an answer to a fetch, whatever they are.
 *
 * A batch that is a bomb, is broken, or is of no known codec is given as records that are refused,
 * as many as its header says: its offsets are consumed, and each is counted as rejected
 * (`undecodable_batch`). Aborted transactions and the coordinator's marks are left out, as Kafka's own
 * consumer does it (isolation level `read_committed`).
 *
 * All batches of an answer are inflated before the first is handed out, so a limit on a batch is
 * none on the answer: 16 MB of it may hold 16 batches that grow a thousandfold. Beyond four batches'
 * worth no further batch of a partition is read; the next fetch begins there. The first batch of
 * each partition always is, or there would be no progress.
 */
export class RecordBatchReader {
  readonly #maxBytes: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * @param bytes record batches, of which the last may be cut.
   * @param onPassed is told when the last record has been passed.
   * @throws OperatorError for what can be taken in no form: a message of a format before Kafka 0.11
   *   (2017), and more records than can be refused one by one.
   */
  async read(
    bytes: Buffer,
    abortedTransactions: readonly AbortedTransaction[],
    budget: AnswerBudget,
    onPassed: () => void = () => undefined,
  ): Promise<FetchedRecords> {
    const transactions = new AbortedTransactions(abortedTransactions);
    const parts: BatchPart[] = [];
    let lastOffset = -1;
    for (let at = 0, count = 0; at < bytes.length; count++) {
      const header = recordBatchHeader(bytes, at);
      if (header === 'unknown') throw tooOld();
      if (header === 'cut') break;
      const isHidden = transactions.hide(header) || header.isControl || header.recordCount === 0;
      if (!isHidden) {
        if (count > 0 && budget.inflatedBytes >= this.#maxBytes * BATCHES_AT_ONCE) break;
        const part = await this.#part(bytes, header);
        budget.inflatedBytes += header.codec === 0 ? 0 : part.bytes.length;
        parts.push(part);
      }
      lastOffset = header.lastOffset;
      at = header.end;
    }
    return new FetchedRecords(parts, lastOffset, onPassed);
  }

  async #part(bytes: Buffer, header: RecordBatchHeader): Promise<BatchPart> {
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

/** Tells which batches are of aborted transactions; asked for each in turn. */
class AbortedTransactions {
  readonly #left: AbortedTransaction[];
  readonly #open = new Set<bigint>();

  /** @param transactions in any order: brokers give them as they were aborted, not as they began. */
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

function refusedPart(header: RecordBatchHeader, bytes: number, rule: string): BatchPart {
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
    { hint: `Skip it${how}. See docs/reference/limits.md.`, exitCode: exitCodes.failed },
  );
  // kafkajs is not to fetch the same again.
  return Object.assign(error, { retriable: false });
}
