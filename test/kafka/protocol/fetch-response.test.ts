// Covers src/kafka/protocol/record-batch-header.ts and src/kafka/protocol/validate-records.ts.

import { createRequire } from 'node:module';
import { gzipSync } from 'node:zlib';
import { compressFrameSync } from 'lz4-napi';
import snappy from 'snappy';
import { beforeAll, describe, expect, it } from 'vitest';
import { registerCompressionCodecs } from '../../../src/kafka/compression/compression.ts';
import { decodeFetchResponse } from '../../../src/kafka/protocol/fetch-response.ts';
import { RecordBatchReader } from '../../../src/kafka/protocol/record-batch-reader.ts';
import { SeededRandom } from '../../base/seeded-random.ts';
import {
  allOf,
  type DecodedMessage,
  encodeBatch,
  encodeLog,
  encodeResponse,
  recordsOf,
} from '../record-batch.ts';

const load = createRequire(import.meta.url);
const reader = new RecordBatchReader(1 << 20);
const versions = [4, 5, 6, 7, 8, 9, 10, 11];

interface KafkajsAnswer {
  readonly responses: readonly {
    readonly topicName: string;
    readonly partitions: readonly (Readonly<Record<string, unknown>> & {
      readonly messages: readonly DecodedMessage[];
    })[];
  }[];
}

/** kafkajs' own decoder of one version. */
function decodeByKafkajs(bytes: Buffer, version: number): Promise<KafkajsAnswer> {
  return load(`kafkajs/src/protocol/requests/fetch/v${version}/response.js`).decode(bytes);
}

beforeAll(() => registerCompressionCodecs());

describe('a response to a fetch', () => {
  it.each(versions)('of version %i is decoded as by kafkajs', async (version) => {
    const random = new SeededRandom(version);
    for (let round = 0; round < 8; round++) {
      const partitions = Array.from({ length: random.between(0, 4) }, (_, partition) => ({
        partition,
        highWatermark: random.between(0, 2 ** 40),
        errorCode: random.between(0, 3),
        preferredReadReplica: 2,
        bytes: Buffer.concat(
          Array.from({ length: random.between(0, 4) }, (_none, i) =>
            randomBatch(random, 1_000 * i),
          ),
        ),
      }));
      const bytes = encodeResponse(partitions, { version, topic: 'größe', throttleMs: 7 });
      const { responses, ...rest } = await decodeFetchResponse(bytes, version, reader);
      const { responses: expected, ...expectedRest } = await decodeByKafkajs(bytes, version);
      expect(rest).toMatchObject(expectedRest);
      expect(responses.map(({ topicName }) => topicName)).toEqual(['größe']);
      responses[0]?.partitions.forEach((found, i) => {
        const wanted = expected[0]?.partitions[i];
        expect(seenBy(found.messages)).toEqual(wanted?.messages.map(recordOf));
        for (const field of ['partition', 'errorCode', 'highWatermark', 'lastStableOffset']) {
          expect(Reflect.get(found, field)).toBe(wanted?.[field]);
        }
        expect(found.preferredReadReplica).toBe(version >= 11 ? 2 : -1);
      });
      expect(responses[0]?.partitions).toHaveLength(partitions.length);
    }
  });

  it('continues after hidden records: its last placeholder is the end of the batches', async () => {
    const log = [
      { offset: 5, value: Buffer.from('a') },
      { offset: 6, value: Buffer.from('b'), producerId: 9 },
      { offset: 7, value: null, producerId: 9, isMarker: true },
    ];
    const aborted = [{ producerId: 9n, firstOffset: 6 }];
    const placeholders = async (entries: typeof log) => {
      const bytes = encodeResponse([{ partition: 0, bytes: encodeLog(entries), aborted }]);
      const { responses } = await decodeFetchResponse(bytes, 11, reader);
      const [partition] = responses[0]?.partitions ?? [];
      return partition?.messages.map(({ offset, isControlRecord, records }) => [
        offset,
        isControlRecord,
        records === undefined ? undefined : allOf(records).map((record) => record.offset),
      ]);
    };
    expect(await placeholders(log)).toEqual([
      ['5', false, [5]],
      ['7', true, undefined],
    ]);
    expect(await placeholders(log.slice(1))).toEqual([['7', true, undefined]]);
    expect(await placeholders(log.slice(0, 1))).toEqual([['5', false, [5]]]);
    expect(await placeholders([])).toEqual([]);
  });
});

function seenBy(messages: readonly { readonly records?: Parameters<typeof allOf>[0] }[]) {
  return messages.flatMap(({ records }) => (records === undefined ? [] : allOf(records)));
}

/** A record as `allOf` copies it; of several headers of a name, kafkajs has all. */
function recordOf({ offset, timestamp, value, headers }: DecodedMessage) {
  const last = Object.entries(headers).map(([name, of]) => [name, [of].flat().at(-1) ?? null]);
  const given = { offset: Number(offset), timestampMs: Number(timestamp), value };
  const present = last.filter((header): header is [string, Buffer] => header[1] !== null);
  return { ...given, headers: Object.fromEntries(present), leaderEpoch: 0, refused: undefined };
}

const packers = [
  (bytes: Buffer) => bytes,
  (bytes: Buffer) => gzipSync(bytes),
  (bytes: Buffer) => snappy.compressSync(bytes),
  (bytes: Buffer) => compressFrameSync(bytes),
];

function headersOf(random: SeededRandom): [string, string | null][] {
  return Array.from({ length: random.between(0, 5) }, () => [
    'größe'.slice(0, random.between(0, 5)),
    random.chance(0.3) ? null : 'y'.repeat(random.between(0, 200)),
  ]);
}

function randomBatch(random: SeededRandom, baseOffset: number): Buffer {
  const count = random.between(1, 40);
  const values = Array.from({ length: count }, () =>
    random.chance(0.1) ? null : Buffer.alloc(random.between(0, 300), 'x'),
  );
  const codec = random.between(0, packers.length - 1);
  if (codec === 0 && random.chance(0.5)) {
    let offset = baseOffset;
    return encodeLog(
      values.map((value) => {
        offset += random.between(1, 300);
        return { offset, value, timestampMs: random.between(-1, 2 ** 42) };
      }),
    );
  }
  const pack = packers[codec] as (typeof packers)[number];
  return encodeBatch({
    baseOffset,
    codec,
    count,
    payload: pack(recordsOf(values, headersOf(random))),
    ...(random.chance(0.5) ? { appendedMs: 1_789_000_000_123 } : {}),
  });
}
