/** What the header of a Kafka record batch says (message format v2, KIP-98). */
export interface RecordBatchHeader {
  readonly baseOffset: number;
  /** Offset of the batch's last record, less the base; some between may have been compacted. */
  readonly lastOffsetDelta: number;
  readonly recordCount: number;
  /** Where the header begins, and the batch ends, in the buffer that holds the fetch's answer. */
  readonly start: number;
  readonly end: number;
}

/** Bytes before a batch's records. */
export const recordBatchHeaderBytes = 61;
/** Bytes of the header that its length does not count: base offset and the length itself. */
const UNCOUNTED_BYTES = 12;
const MAGIC = 2;
const CODEC_MASK = 0x07;

/**
 * The header of the batch whose records `records` are. kafkajs hands a codec a view of the answer
 * that it came in, so the header lies right before it; undefined where what lies there is none.
 */
export function recordBatchHeader(records: Buffer, codec: number): RecordBatchHeader | undefined {
  const start = records.byteOffset - recordBatchHeaderBytes;
  if (start < 0) return undefined;
  const header = Buffer.from(records.buffer, start, recordBatchHeaderBytes);
  const length = header.readInt32BE(8);
  const recordCount = header.readInt32BE(57);
  const lastOffsetDelta = header.readInt32BE(23);
  const isOne =
    length === recordBatchHeaderBytes - UNCOUNTED_BYTES + records.length &&
    header[16] === MAGIC &&
    (header.readInt16BE(21) & CODEC_MASK) === codec &&
    recordCount > 0 &&
    recordCount <= lastOffsetDelta + 1;
  if (!isOne) return undefined;
  return {
    baseOffset: Number(header.readBigInt64BE(0)),
    lastOffsetDelta,
    recordCount,
    start,
    end: records.byteOffset + records.length,
  };
}

/**
 * Whether the batch that begins at `start` follows, in the same partition's answer, the one that
 * ended at `end`: with none but whole batches between.
 */
export function isSamePartition(answer: ArrayBufferLike, end: number, start: number): boolean {
  const bytes = Buffer.from(answer);
  let at = end;
  while (at < start) {
    if (at + recordBatchHeaderBytes > bytes.length || bytes[at + 16] !== MAGIC) return false;
    const length = bytes.readInt32BE(at + 8);
    if (length < 0) return false;
    at += UNCOUNTED_BYTES + length;
  }
  return at === start;
}
