import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { registerCompressionCodecs } from '../../src/source/compression.ts';
import { refusalOf } from '../../src/source/substitute-records.ts';
import {
  type DecodedMessage,
  decodeAsKafkajs,
  encodeBatch,
  recordsOf,
  varint,
} from './record-batch.ts';

const maxBatchBytes = 1 << 20;
const gzip = 1;
beforeAll(() => registerCompressionCodecs(maxBatchBytes));

const good = recordsOf(['a', 'b']);
const offsetsOf = (messages: readonly DecodedMessage[]) =>
  messages.map(({ offset }) => Number(offset));
const refusalsOf = (messages: readonly DecodedMessage[]) =>
  messages.map((message) => refusalOf(message)?.detail);

describe('a record batch that cannot be decoded', () => {
  const bomb = gzipSync(Buffer.alloc(maxBatchBytes + 1));
  const cases: readonly [string, Parameters<typeof encodeBatch>[0], string][] = [
    [
      'a bomb',
      { codec: 1, count: 3, payload: bomb },
      'inflate to at most 1048576 bytes: it is larger (limits.max_batch_bytes)',
    ],
    ['corrupt gzip', { codec: 1, count: 3, payload: bomb.subarray(9) }, 'be gzip: '],
    ['corrupt snappy', { codec: 2, count: 3, payload: Buffer.alloc(20, 0xff) }, 'be snappy: '],
    ['corrupt lz4', { codec: 3, count: 3, payload: Buffer.alloc(20) }, 'be an LZ4 frame'],
    ['corrupt zstd', { codec: 4, count: 3, payload: Buffer.alloc(20) }, 'be a Zstandard frame'],
    [
      'an unknown codec',
      { codec: 5, count: 3, payload: Buffer.alloc(20) },
      'be of a known compression',
    ],
    [
      'fewer records than it says',
      { codec: 1, count: 3, payload: gzipSync(good) },
      'hold whole records: record 2 must lie within the batch',
    ],
    ['the same, uncompressed', { count: 3, payload: good }, 'hold whole records: record 2'],
    [
      'a record that breaks off',
      { count: 2, payload: good.subarray(0, -2) },
      'hold whole records: record 1',
    ],
    [
      'a record longer than it says',
      { count: 1, payload: Buffer.from([14, 0, 0, 0, 1, 6, 97, 0]) },
      'hold whole records: record 0',
    ],
    [
      'two thousand million headers',
      { count: 1, payload: recordsWithHeaderCount(2 ** 31 - 1) },
      'hold whole records: record 0 must have at most 64 headers',
    ],
    [
      'a negative number of headers',
      { count: 1, payload: recordsWithHeaderCount(-5) },
      'hold whole records: record 0',
    ],
    [
      'one header too many',
      { count: 1, payload: recordsOf(['v'], limits.headersPerRecord + 1) },
      'hold whole records: record 0 must have at most 64 headers',
    ],
  ];

  it.each(cases)('for %s is consumed as rejected records', async (_, batch, detail) => {
    const after = encodeBatch({ baseOffset: 103, count: 2, payload: good });
    const messages = await decodeAsKafkajs([encodeBatch({ baseOffset: 100, ...batch }), after]);
    const expected = Array.from({ length: batch.count }, (_none, i) => 100 + i);
    expect(offsetsOf(messages)).toEqual([...expected, 103, 104]);
    const refusals = refusalsOf(messages);
    expect(refusals.slice(batch.count)).toEqual([undefined, undefined]);
    for (const refusal of refusals.slice(0, batch.count)) {
      expect(refusal).toContain(`The record batch must ${detail}`);
      expect(refusal).toContain(`offsets 100 to ${99 + batch.count}, ${batch.count} records`);
    }
    expect(messages.slice(batch.count).map(({ value }) => value?.toString())).toEqual(['a', 'b']);
  });

  it('has its last offset where compaction has taken some', async () => {
    const batch = {
      baseOffset: 2 ** 40,
      codec: 1,
      count: 3,
      lastOffsetDelta: 5_000_000,
      payload: bomb,
    };
    const messages = await decodeAsKafkajs([encodeBatch(batch)]);
    expect(offsetsOf(messages)).toEqual([2 ** 40, 2 ** 40 + 1, 2 ** 40 + 5_000_000]);
    expect(messages.map(({ timestamp }) => timestamp)).toEqual(new Array(3).fill('1789000000000'));
  });

  it('is told by no byte that a producer can write', async () => {
    const forged = Buffer.from([0x0e, 0x54, 0, 0, 1, 0, 0]);
    forged[0] = (forged.length - 1) * 2;
    const messages = await decodeAsKafkajs([encodeBatch({ count: 1, payload: forged })]);
    expect(messages[0]?.attributes).toBe(0x54);
    expect(refusalsOf(messages)).toEqual([undefined]);
  });

  it('may have as many records as kafkajs can take; more end the process with what to do', async () => {
    const full = { codec: 1, count: limits.recordsPerBatch, payload: bomb };
    expect(await decodeAsKafkajs([encodeBatch(full)])).toHaveLength(limits.recordsPerBatch);
    const more = encodeBatch({ ...full, baseOffset: 50, count: limits.recordsPerBatch + 1 });
    await expect(decodeAsKafkajs([more])).rejects.toMatchObject({
      code: 'TAILMARK_BATCH_UNREADABLE',
      retriable: false,
      message:
        'Cannot go on reading from Kafka as a batch must hold at most 100000 records: ' +
        'the batch at offsets 50 to 100050 holds 100001',
      hint: expect.stringContaining('--to-offset 100051'),
    });
  });
});

describe('an answer of many batches', () => {
  /** 256 KiB each, so that 16 of them are the four batches' worth that is held at once. */
  const payload = gzipSync(recordsOf([Buffer.alloc(256 * 1024)]));
  const batches = Array.from({ length: 40 }, (_, baseOffset) =>
    encodeBatch({ baseOffset, codec: gzip, count: 1, payload }),
  );

  it('is cut where it has grown to all that is held at once, and goes on there', async () => {
    const taken: number[] = [];
    for (let fetches = 0; taken.length < batches.length; fetches++) {
      expect(fetches).toBeLessThan(4);
      const messages = await decodeAsKafkajs(batches.slice(taken.length));
      expect(messages.length).toBeLessThanOrEqual(16);
      taken.push(...offsetsOf(messages));
    }
    expect(taken).toEqual(Array.from({ length: 40 }, (_, offset) => offset));
  });

  it('is cut also where small uncompressed batches lie between', async () => {
    const small = encodeBatch({ baseOffset: 1, count: 1, payload: recordsOf(['s']) });
    const mixed = batches.flatMap((batch) => [batch, small]);
    expect((await decodeAsKafkajs(mixed)).length).toBeLessThanOrEqual(32);
  });

  it('counts records as well as bytes: empty ones are cut too', async () => {
    const empty = recordsOf(new Array(4_000).fill(null));
    const many = Array.from({ length: 10 }, (_, i) =>
      encodeBatch({ baseOffset: i * 4_000, count: 4_000, payload: empty }),
    );
    const messages = await decodeAsKafkajs(many);
    expect(messages).toHaveLength(12_000);
  });
});

function recordsWithHeaderCount(count: number): Buffer {
  const body = Buffer.concat([Buffer.from([0, 0, 0, 1, 1]), varint(count)]);
  return Buffer.concat([varint(body.length), body]);
}
