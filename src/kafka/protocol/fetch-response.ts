import type { FetchedRecords } from './fetched-records.ts';
import type { AbortedTransaction, RecordBatchReader } from './record-batch-reader.ts';

/** What kafkajs takes for a record. It goes by offsets; the records themselves it never sees. */
export interface FetchPlaceholder {
  readonly offset: string;
  readonly isControlRecord: boolean;
  /** On the mark of the last record that is to be seen: all of them. */
  readonly records?: FetchedRecords;
}

/** One partition of an answer to a fetch, in kafkajs' words. */
interface FetchedPartition {
  readonly partition: number;
  readonly errorCode: number;
  readonly highWatermark: string;
  readonly lastStableOffset: string;
  /** Those that are aborted are left out already. */
  readonly abortedTransactions: readonly never[];
  readonly preferredReadReplica: number;
  readonly messages: readonly FetchPlaceholder[];
}

export interface FetchAnswer {
  readonly throttleTime: number;
  readonly clientSideThrottleTime: number;
  readonly errorCode: number;
  readonly sessionId: number;
  readonly responses: readonly {
    readonly topicName: string;
    readonly partitions: readonly FetchedPartition[];
  }[];
}

/** First version with transactions and record batches (Kafka 0.11). */
export const OLDEST_VERSION = 4;
const LOG_START_VERSION = 5;
const SESSION_VERSION = 7;
/** From here on the client is to wait where the broker throttles it (KIP-219). */
const CLIENT_THROTTLE_VERSION = 8;
const READ_REPLICA_VERSION = 11;

/**
 * Decodes an answer to a fetch, versions 4 to 11 of Kafka's protocol, in the shape that kafkajs'
 * own decoder gives it, but for the records: kafkajs makes an object of each and strings of its
 * offset and timestamp, some 1.6 µs of work; here they stay where they lie.
 *
 * @param onRead is told when all records have been passed: nobody looks at `bytes` from then on.
 */
export async function decodeFetchAnswer(
  bytes: Buffer,
  version: number,
  reader: RecordBatchReader,
  onRead: () => void = () => undefined,
): Promise<FetchAnswer> {
  const fields = new Fields(bytes);
  const throttleMs = fields.int32();
  const hasSession = version >= SESSION_VERSION;
  const errorCode = hasSession ? fields.int16() : 0;
  const sessionId = hasSession ? fields.int32() : 0;
  const budget = { inflatedBytes: 0 };
  // One for this function, until it is done with all partitions.
  let readers = 1;
  const onPassed = () => {
    if (--readers === 0) onRead();
  };
  const responses: { topicName: string; partitions: FetchedPartition[] }[] = [];
  for (let topics = fields.int32(); topics > 0; topics--) {
    const topicName = fields.string();
    const partitions: FetchedPartition[] = [];
    for (let left = fields.int32(); left > 0; left--) {
      const partition = fields.int32();
      const error = fields.int16();
      const highWatermark = String(fields.int64());
      const lastStableOffset = String(fields.int64());
      if (version >= LOG_START_VERSION) fields.int64();
      const aborted = abortedTransactions(fields);
      const preferredReadReplica = version >= READ_REPLICA_VERSION ? fields.int32() : -1;
      readers++;
      const records = await reader.read(fields.bytes(), aborted, budget, onPassed);
      partitions.push({
        partition,
        errorCode: error,
        highWatermark,
        lastStableOffset,
        abortedTransactions: [],
        preferredReadReplica,
        messages: placeholdersOf(records),
      });
    }
    responses.push({ topicName, partitions });
  }
  onPassed();
  const isOurs = version >= CLIENT_THROTTLE_VERSION;
  return {
    throttleTime: isOurs ? 0 : throttleMs,
    clientSideThrottleTime: isOurs ? throttleMs : 0,
    errorCode,
    sessionId,
    responses,
  };
}

/**
 * One mark that carries the records, and one where the batches reach further than the last of them:
 * what is hidden or compacted away is passed over like a control record.
 */
function placeholdersOf(records: FetchedRecords): FetchPlaceholder[] {
  const { lastOffset, lastShownOffset } = records;
  const marks: FetchPlaceholder[] = [];
  if (lastShownOffset >= 0) {
    marks.push({ offset: String(lastShownOffset), isControlRecord: false, records });
  }
  if (lastOffset > lastShownOffset) {
    marks.push({ offset: String(lastOffset), isControlRecord: true });
  }
  return marks;
}

function abortedTransactions(fields: Fields): AbortedTransaction[] {
  const transactions: AbortedTransaction[] = [];
  for (let left = fields.int32(); left > 0; left--) {
    const producerId = fields.int64();
    transactions.push({ producerId, firstOffset: Number(fields.int64()) });
  }
  return transactions;
}

/** The fields of an answer, one after another. */
class Fields {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  int16(): number {
    this.#at += 2;
    return this.#bytes.readInt16BE(this.#at - 2);
  }

  int32(): number {
    this.#at += 4;
    return this.#bytes.readInt32BE(this.#at - 4);
  }

  int64(): bigint {
    this.#at += 8;
    return this.#bytes.readBigInt64BE(this.#at - 8);
  }

  string(): string {
    const length = Math.max(0, this.int16());
    this.#at += length;
    return this.#bytes.toString('utf8', this.#at - length, this.#at);
  }

  /** A view; what is null is empty. */
  bytes(): Buffer {
    const length = Math.max(0, this.int32());
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }
}
