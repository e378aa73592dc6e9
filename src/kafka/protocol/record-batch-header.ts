/** Header of a Kafka record batch (message format v2, KIP-98). */
export interface RecordBatchHeader {
  readonly baseOffset: number;
  /** Offset of the batch's last record, even if that was compacted away. */
  readonly lastOffset: number;
  readonly recordCount: number;
  /** Epoch of the leader that wrote the batch (KIP-101). */
  readonly leaderEpoch: number;
  /** True where its range of offsets can hold that many records. */
  readonly isPlausible: boolean;
  /** Compression codec: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd. */
  readonly codec: number;
  /** Timestamp of the first record, to which the others are relative. */
  readonly baseTimestampMs: number;
  /** The broker's append time, where it applies to all records of the batch. */
  readonly appendedMs: number | undefined;
  readonly producerId: bigint;
  readonly isTransactional: boolean;
  /** The records are the coordinator's transaction markers. */
  readonly isControl: boolean;
  /** CRC-32C of the bytes from `checkedStart` to the end. */
  readonly checksum: number;
  readonly checkedStart: number;
  /** Positions of the first record and of the batch's end. */
  readonly recordsStart: number;
  readonly end: number;
}

const HEADER_BYTES = 61;
/** Header bytes that the length field excludes: base offset and the length itself. */
const UNCOUNTED_BYTES = 12;
/** The attributes: what is before them may be changed by a broker. */
const CHECKED_OFFSET = 21;
const MAGIC = 2;
const CODEC_MASK = 0x07;
const APPEND_TIME = 0x08;
const TRANSACTIONAL = 0x10;
const CONTROL = 0x20;

export type NoBatch =
  /** Brokers truncate the last batch of a response. */
  | 'truncated'
  /** Not format v2: older than Kafka 0.11, or no batch. */
  | 'unknown';

export function recordBatchHeader(bytes: Buffer, at: number): RecordBatchHeader | NoBatch {
  if (at + HEADER_BYTES > bytes.length) {
    return at + 16 < bytes.length && bytes[at + 16] !== MAGIC ? 'unknown' : 'truncated';
  }
  if (bytes[at + 16] !== MAGIC) return 'unknown';
  const length = bytes.readInt32BE(at + 8);
  const lastOffsetDelta = bytes.readInt32BE(at + 23);
  const recordCount = bytes.readInt32BE(at + 57);
  if (length < HEADER_BYTES - UNCOUNTED_BYTES) return 'unknown';
  const end = at + UNCOUNTED_BYTES + length;
  if (end > bytes.length) return 'truncated';
  const attributes = bytes.readInt16BE(at + CHECKED_OFFSET);
  const baseOffset = Number(bytes.readBigInt64BE(at));
  return {
    baseOffset,
    lastOffset: baseOffset + lastOffsetDelta,
    recordCount,
    leaderEpoch: bytes.readInt32BE(at + 12),
    isPlausible: recordCount >= 0 && recordCount <= lastOffsetDelta + 1,
    codec: attributes & CODEC_MASK,
    baseTimestampMs: Number(bytes.readBigInt64BE(at + 27)),
    appendedMs: attributes & APPEND_TIME ? Number(bytes.readBigInt64BE(at + 35)) : undefined,
    producerId: bytes.readBigInt64BE(at + 43),
    isTransactional: (attributes & TRANSACTIONAL) !== 0,
    isControl: (attributes & CONTROL) !== 0,
    checksum: bytes.readUInt32BE(at + 17),
    checkedStart: at + CHECKED_OFFSET,
    recordsStart: at + HEADER_BYTES,
    end,
  };
}
