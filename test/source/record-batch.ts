import { createRequire } from 'node:module';
import kafkajs from 'kafkajs';

/** A record batch of message format v2, as a broker keeps it. */
export interface TestBatch {
  readonly baseOffset?: number;
  /** Number of the codec: 1 gzip, 2 snappy, 3 lz4, 4 zstd. @default {0} */
  readonly codec?: number;
  readonly count: number;
  /** @default {count - 1} */
  readonly lastOffsetDelta?: number;
  /** The records, compressed or not. */
  readonly payload: Buffer;
}

/** The zigzag varint of Kafka's records. */
export function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value < 0 ? -value * 2 - 1 : value * 2;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  return Buffer.from([...bytes, rest]);
}

/** Records without key and headers, uncompressed. */
export function recordsOf(values: readonly (Buffer | string | null)[], headerCount = 0): Buffer {
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
        varint(headerCount),
        ...Array.from({ length: headerCount }, () =>
          Buffer.concat([varint(1), Buffer.from('h'), varint(-1)]),
        ),
      ];
      const length = body.reduce((sum, part) => sum + part.length, 0);
      return [varint(length), ...body];
    }),
  );
}

export function encodeBatch(batch: TestBatch): Buffer {
  const { baseOffset = 0, codec = 0, count, lastOffsetDelta = count - 1, payload } = batch;
  const header = Buffer.alloc(61);
  header.writeBigInt64BE(BigInt(baseOffset), 0);
  header.writeInt32BE(49 + payload.length, 8);
  header[16] = 2;
  header.writeInt16BE(codec, 21);
  header.writeInt32BE(lastOffsetDelta, 23);
  header.writeBigInt64BE(1_789_000_000_000n, 27);
  header.writeBigInt64BE(1_789_000_000_000n, 35);
  header.writeInt32BE(count, 57);
  return Buffer.concat([header, payload]);
}

/** What kafkajs makes of a record. */
export interface DecodedMessage {
  readonly offset: string;
  readonly timestamp: string;
  readonly attributes: number;
  readonly value: Buffer | null;
}

const load = createRequire(import.meta.url);
const Decoder: new (bytes: Buffer) => object = load('kafkajs/src/protocol/decoder.js');
const decodeMessages: (decoder: object) => Promise<DecodedMessage[]> = load(
  'kafkajs/src/protocol/requests/fetch/v4/decodeMessages.js',
);

/** Decodes a partition's batches as kafkajs does those of a fetch, with the codecs of now. */
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

/** kafkajs types its table by some of its keys, and its codecs not at all. */
export function codecOf(type: number): Codec {
  const table: Readonly<Record<number, () => Codec>> = kafkajs.CompressionCodecs;
  const make = table[type];
  if (make === undefined) throw new Error(`no codec ${type}`);
  return make();
}
