import { createRequire } from 'node:module';
import kafkajs from 'kafkajs';
import { crc32c } from '../../src/kafka/protocol/crc32c.ts';
import type { Records, SourceRecord } from '../../src/source/record.ts';
import { int16, int32, int64 } from './kafka-integers.ts';

/** A record batch of message format v2, as a broker stores it. */
export interface TestBatch {
  readonly baseOffset?: number;
  /** Number of the codec: 1 gzip, 2 snappy, 3 lz4, 4 zstd. @default {0} */
  readonly codec?: number;
  readonly count: number;
  /** @default {count - 1} */
  readonly lastOffsetDelta?: number;
  /** The records, compressed or not. */
  readonly payload: Buffer;
  /** @default {1_789_000_000_000} */
  readonly baseTimestampMs?: number;
  /** Time at which the broker appended it, if that is the time of all records. @default none */
  readonly appendedMs?: number;
  /** @default none */
  readonly producerId?: number;
  /** @default {0} */
  readonly leaderEpoch?: number;
  readonly isTransactional?: boolean;
  readonly isControl?: boolean;
}

/** The zigzag varint of Kafka's records. */
export function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value < 0 ? -value * 2 - 1 : value * 2;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  return Buffer.from([...bytes, rest]);
}

/** Records without key, uncompressed, each with these headers. */
export function recordsOf(
  values: readonly (Buffer | string | null)[],
  headers: readonly (readonly [name: string, value: string | null])[] = [],
): Buffer {
  return Buffer.concat(
    values.flatMap((text, i) => {
      const value = text === null ? null : Buffer.from(text);
      const body = [
        Buffer.from([0]),
        varint(0),
        varint(i),
        varint(-1),
        varint(value?.length ?? -1),
        value ?? Buffer.alloc(0),
        varint(headers.length),
        ...headers.flatMap(([name, of]) => [
          varint(Buffer.byteLength(name)),
          Buffer.from(name),
          varint(of === null ? -1 : Buffer.byteLength(of)),
          Buffer.from(of ?? ''),
        ]),
      ];
      const length = body.reduce((sum, part) => sum + part.length, 0);
      return [varint(length), ...body];
    }),
  );
}

export function encodeBatch(batch: TestBatch): Buffer {
  const { baseOffset = 0, codec = 0, count, lastOffsetDelta = count - 1, payload } = batch;
  const { baseTimestampMs = 1_789_000_000_000, appendedMs, producerId = -1 } = batch;
  const { leaderEpoch = 0 } = batch;
  const header = Buffer.alloc(61);
  header.writeBigInt64BE(BigInt(baseOffset), 0);
  header.writeInt32BE(49 + payload.length, 8);
  header.writeInt32BE(leaderEpoch, 12);
  header[16] = 2;
  const flags =
    (appendedMs === undefined ? 0 : 0x08) |
    (batch.isTransactional === true ? 0x10 : 0) |
    (batch.isControl === true ? 0x20 : 0);
  header.writeInt16BE(codec | flags, 21);
  header.writeInt32BE(lastOffsetDelta, 23);
  header.writeBigInt64BE(BigInt(baseTimestampMs), 27);
  header.writeBigInt64BE(BigInt(appendedMs ?? baseTimestampMs), 35);
  header.writeBigInt64BE(BigInt(producerId), 43);
  header.writeInt32BE(count, 57);
  const bytes = Buffer.concat([header, payload]);
  writeChecksum(bytes);
  return bytes;
}

/** Writes the checksum that a batch must have, after a test has changed it. */
export function writeChecksum(batch: Buffer): void {
  batch.writeUInt32BE(crc32c(batch.subarray(21)), 17);
}

/** A record of a log. */
export interface LoggedRecord {
  readonly offset: number;
  /** @default {0} */
  readonly timestampMs?: number;
  readonly value: Buffer | null;
  /** Written in a transaction of this producer. @default none */
  readonly producerId?: number;
  /** The coordinator's control record at the end of the producer's transaction. @default {false} */
  readonly isMarker?: boolean;
  /** @default {0} */
  readonly leaderEpoch?: number;
}

const ABORT_KEY = Buffer.from([0, 0, 0, 0]);

/**
 * Encodes records as a broker returns them: neighbours of one producer and leader in one batch, a control
 * record alone.
 */
export function encodeLog(records: readonly LoggedRecord[]): Buffer {
  const batches: LoggedRecord[][] = [];
  for (const record of records) {
    const last = batches.at(-1);
    const before = last?.[0];
    const isNext =
      before !== undefined &&
      before.producerId === record.producerId &&
      before.leaderEpoch === record.leaderEpoch;
    if (isNext && before.isMarker !== true && record.isMarker !== true) last?.push(record);
    else batches.push([record]);
  }
  return Buffer.concat(batches.map(encodeNeighbours));
}

function encodeNeighbours(records: readonly LoggedRecord[]): Buffer {
  const [first] = records;
  const last = records.at(-1);
  if (first === undefined || last === undefined) return Buffer.alloc(0);
  const { offset: baseOffset, timestampMs: baseTimestampMs = 0, producerId, isMarker } = first;
  return encodeBatch({
    baseOffset,
    baseTimestampMs,
    count: records.length,
    lastOffsetDelta: last.offset - baseOffset,
    producerId: producerId ?? -1,
    leaderEpoch: first.leaderEpoch ?? 0,
    isTransactional: producerId !== undefined,
    isControl: isMarker === true,
    payload: Buffer.concat(
      records.map(({ offset, timestampMs = 0, value }) =>
        encodeRecord(offset - baseOffset, timestampMs - baseTimestampMs, isMarker === true, value),
      ),
    ),
  });
}

function encodeRecord(
  offsetDelta: number,
  timestampDelta: number,
  isMarker: boolean,
  value: Buffer | null,
): Buffer {
  const key = isMarker ? [varint(ABORT_KEY.length), ABORT_KEY] : [varint(-1)];
  const body = Buffer.concat([
    Buffer.from([0]),
    varint(timestampDelta),
    varint(offsetDelta),
    ...key,
    varint(value?.length ?? -1),
    value ?? Buffer.alloc(0),
    varint(0),
  ]);
  return Buffer.concat([varint(body.length), body]);
}

/** A partition's part of a response to a fetch. */
export interface PartitionResponse {
  readonly partition: number;
  /** Its record batches. */
  readonly bytes: Buffer;
  readonly highWatermark?: number;
  readonly errorCode?: number;
  /** @default none */
  readonly preferredReadReplica?: number;
  readonly aborted?: readonly { readonly producerId: bigint; readonly firstOffset: number }[];
}

/** Encodes a broker's response to a fetch of one topic, versions 4 to 11 of the protocol. */
export function encodeResponse(
  partitions: readonly PartitionResponse[],
  { version = 11, topic = 't', throttleMs = 0 } = {},
): Buffer {
  const name = Buffer.from(topic);
  return Buffer.concat([
    int32(throttleMs),
    version >= 7 ? Buffer.concat([int16(0), int32(17)]) : Buffer.alloc(0),
    int32(1),
    int16(name.length),
    name,
    int32(partitions.length),
    ...partitions.flatMap(
      ({
        partition,
        bytes,
        highWatermark = 99,
        errorCode = 0,
        aborted = [],
        preferredReadReplica = -1,
      }) => [
        int32(partition),
        int16(errorCode),
        int64(highWatermark),
        int64(highWatermark - 1),
        version >= 5 ? int64(3) : Buffer.alloc(0),
        int32(aborted.length),
        ...aborted.map(({ producerId, firstOffset }) =>
          Buffer.concat([int64(Number(producerId)), int64(firstOffset)]),
        ),
        version >= 11 ? int32(preferredReadReplica) : Buffer.alloc(0),
        int32(bytes.length),
        bytes,
      ],
    ),
  ]);
}

/** A copy of a record, with its headers, and without what is said of its neighbours. */
export interface CopiedRecord extends Omit<SourceRecord, 'headers' | 'removedBefore'> {
  readonly headers: Readonly<Record<string, Buffer>>;
}

/** Copies of all visible records. */
export function allOf(records: Records): CopiedRecord[] {
  const seen: CopiedRecord[] = [];
  for (; records.current !== undefined; records.advance()) {
    const { headers, removedBefore: _, ...rest } = records.current;
    seen.push({ ...rest, headers: Object.fromEntries(headers?.() ?? []) });
  }
  return seen;
}

/** A record as kafkajs decodes it. */
export interface DecodedMessage {
  readonly offset: string;
  readonly timestamp: string;
  readonly attributes: number;
  readonly headers: Readonly<Record<string, Buffer | null | readonly (Buffer | null)[]>>;
  readonly value: Buffer | null;
  readonly isControlRecord: boolean;
}

const load = createRequire(import.meta.url);
const Decoder: new (bytes: Buffer) => object = load('kafkajs/src/protocol/decoder.js');
const decodeMessages: (decoder: object) => Promise<DecodedMessage[]> = load(
  'kafkajs/src/protocol/requests/fetch/v4/decodeMessages.js',
);

/** Decodes a partition's batches like kafkajs does for a fetch, with the registered codecs. */
export async function decodeAsKafkajs(batches: readonly Buffer[]): Promise<DecodedMessage[]> {
  const size = Buffer.alloc(4);
  size.writeInt32BE(batches.reduce((sum, batch) => sum + batch.length, 0));
  return decodeMessages(
    new Decoder(Buffer.concat([Buffer.alloc(64), size, ...batches]).subarray(64)),
  );
}

interface Codec {
  compress(encoder: { readonly buffer: Buffer }): Promise<Buffer>;
  decompress(bytes: Buffer): Promise<Buffer>;
}

/** kafkajs types only some keys of its table, and no codec. */
export function codecOf(type: number): Codec {
  const table: Readonly<Record<number, () => Codec>> = kafkajs.CompressionCodecs;
  const make = table[type];
  if (make === undefined) throw new Error(`no codec ${type}`);
  return make();
}
