/** What the header of a Kafka record batch says (message format v2, KIP-98). */
export interface RecordBatchHeader {
  readonly baseOffset: number;
  /** Offset of the batch's last record, compacted away or not. */
  readonly lastOffset: number;
  readonly recordCount: number;
  /** Number of its compression codec: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd. */
  readonly codec: number;
  /** That of its first record, to which those of the others are relative. */
  readonly baseTimestampMs: number;
  /** When the broker appended the batch, where that is the time of all of its records. */
  readonly appendedMs: number | undefined;
  readonly producerId: bigint;
  readonly isTransactional: boolean;
  /** Its records are the coordinator's marks, not a producer's. */
  readonly isControl: boolean;
  /** Where the records begin and the batch ends. */
  readonly recordsStart: number;
  readonly end: number;
}

const HEADER_BYTES = 61;
/** Bytes of the header that its length does not count: base offset and the length itself. */
const UNCOUNTED_BYTES = 12;
const MAGIC = 2;
const CODEC_MASK = 0x07;
const APPEND_TIME = 0x08;
const TRANSACTIONAL = 0x10;
const CONTROL = 0x20;

/** What cannot be read as a batch. */
export type NoBatch =
  /** The answer ends within it: brokers cut the last one. */
  | 'cut'
  /** It is of a format before Kafka 0.11, or none. */
  | 'unknown';

/** The header of the batch that begins at a position. */
export function recordBatchHeader(bytes: Buffer, at: number): RecordBatchHeader | NoBatch {
  if (at + HEADER_BYTES > bytes.length) {
    return at + 16 < bytes.length && bytes[at + 16] !== MAGIC ? 'unknown' : 'cut';
  }
  if (bytes[at + 16] !== MAGIC) return 'unknown';
  const length = bytes.readInt32BE(at + 8);
  const lastOffsetDelta = bytes.readInt32BE(at + 23);
  const recordCount = bytes.readInt32BE(at + 57);
  if (length < HEADER_BYTES - UNCOUNTED_BYTES) return 'unknown';
  if (recordCount < 0 || recordCount > lastOffsetDelta + 1) return 'unknown';
  const end = at + UNCOUNTED_BYTES + length;
  if (end > bytes.length) return 'cut';
  const attributes = bytes.readInt16BE(at + 21);
  const baseOffset = Number(bytes.readBigInt64BE(at));
  return {
    baseOffset,
    lastOffset: baseOffset + lastOffsetDelta,
    recordCount,
    codec: attributes & CODEC_MASK,
    baseTimestampMs: Number(bytes.readBigInt64BE(at + 27)),
    appendedMs: attributes & APPEND_TIME ? Number(bytes.readBigInt64BE(at + 35)) : undefined,
    producerId: bytes.readBigInt64BE(at + 43),
    isTransactional: (attributes & TRANSACTIONAL) !== 0,
    isControl: (attributes & CONTROL) !== 0,
    recordsStart: at + HEADER_BYTES,
    end,
  };
}
