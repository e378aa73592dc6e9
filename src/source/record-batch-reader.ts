import { exitCodes } from '../base/exit-codes.ts';
import { limits } from '../base/limits.ts';
import { OperatorError } from '../base/operator-error.ts';
import { FetchBudget } from './fetch-budget.ts';
import { InflateError } from './inflate-error.ts';
import { type RecordBatchHeader, recordBatchHeader } from './record-batch-header.ts';
import { recordProblem } from './record-problem.ts';
import { substituteRecords } from './substitute-records.ts';

/** Record batches of this many times the largest may be held at once, out of one fetch. */
const BATCHES_AT_ONCE = 4;

type Inflate = (bytes: Buffer, maxBytes: number) => Buffer | Promise<Buffer>;

/**
 * Takes the records of a batch from kafkajs and gives back what it can decode, whatever they are.
 *
 * An error from a codec makes kafkajs fetch the same batch for ever. So a batch that is a bomb, is
 * broken, or is of no known codec is replaced by as many substitutes as its header says it has
 * records: its offsets are consumed, and each is counted as rejected (`undecodable_batch`).
 */
export class RecordBatchReader {
  readonly #maxBytes: number;
  readonly #budget: FetchBudget;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#budget = new FetchBudget(maxBytes * BATCHES_AT_ONCE);
  }

  /**
   * @throws OperatorError for what kafkajs could take in no form: more records than it has stack
   *   for, or a message of a format before Kafka 0.11 (2017).
   * @throws an error that kafkajs takes for the cut end of an answer, once the answer has grown to
   *   more than is to be held at once: it fetches the rest again.
   */
  async read(records: Buffer, codec: number, name: string, inflate: Inflate): Promise<Buffer> {
    const header = requireHeader(records, codec);
    if (!this.#budget.allows(records.buffer, header)) throw new AnswerCutError();
    let inflated: Buffer;
    try {
      inflated = await inflate(records, this.#maxBytes);
      const problem = recordProblem(inflated, header.recordCount);
      if (problem !== undefined) throw new InflateError(`hold whole records: ${problem}`);
    } catch (error) {
      if (!(error instanceof InflateError)) throw error;
      inflated = this.#refuse(records, header, name, error.message);
    }
    this.#budget.spend(records.buffer, header, inflated.length);
    return inflated;
  }

  /** A batch of a codec that the format has a number for, and nobody a meaning. */
  async readUnknown(records: Buffer, codec: number): Promise<Buffer> {
    const header = requireHeader(records, codec);
    return this.#refuse(records, header, `codec ${codec}`, 'be of a known compression');
  }

  #refuse(records: Buffer, header: RecordBatchHeader, name: string, rule: string): Buffer {
    const { baseOffset, lastOffsetDelta, recordCount } = header;
    const range = `offsets ${baseOffset} to ${baseOffset + lastOffsetDelta}`;
    const hint = rule.startsWith('inflate') ? ' (limits.max_batch_bytes)' : '';
    return substituteRecords(header, {
      reason: 'undecodable_batch',
      detail: `The record batch must ${rule}${hint}: ${range}, ${recordCount} records, ${name}, ${records.length} bytes`,
      originalBytes: records.length,
    });
  }
}

/** kafkajs knows by this name that the rest of an answer is to be fetched again. */
class AnswerCutError extends Error {
  override readonly name = 'KafkaJSPartialMessageError';
}

function requireHeader(records: Buffer, codec: number): RecordBatchHeader {
  const header = Buffer.isBuffer(records) ? recordBatchHeader(records, codec) : undefined;
  if (header === undefined) {
    throw unreadable('must be a record batch of format v2 (Kafka 0.11 or later): it is none', '');
  }
  if (header.recordCount <= limits.recordsPerBatch) return header;
  const { baseOffset, lastOffsetDelta, recordCount } = header;
  const past = baseOffset + lastOffsetDelta + 1;
  throw unreadable(
    `must hold at most ${limits.recordsPerBatch} records: the batch at offsets ${baseOffset} to ` +
      `${past - 1} holds ${recordCount}`,
    ` by hand: stop tailmark, then kafka-consumer-groups.sh --reset-offsets --to-offset ${past} ` +
      '--topic TOPIC:PARTITION --group GROUP --execute',
  );
}

function unreadable(rule: string, how: string): OperatorError {
  const error = new OperatorError(
    'TAILMARK_BATCH_UNREADABLE',
    `Cannot go on reading from Kafka as a batch ${rule}`,
    { hint: `Pass over it${how}. See docs/limits.md.`, exitCode: exitCodes.failed },
  );
  // kafkajs is not to fetch the same again.
  return Object.assign(error, { retriable: false });
}
