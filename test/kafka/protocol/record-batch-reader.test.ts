import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { limits } from '../../../src/base/limits.ts';
import { RecordBatchReader } from '../../../src/kafka/protocol/record-batch-reader.ts';
import { allOf, type CopiedRecord, encodeBatch, recordsOf, varint } from '../record-batch.ts';

const maxBatchBytes = 1 << 20;
const gzip = 1;

/** All visible records of some batches, in one fetch's response. */
async function read(batches: readonly Buffer[]): Promise<CopiedRecord[]> {
  const reader = new RecordBatchReader(maxBatchBytes);
  return allOf(await reader.read(Buffer.concat(batches), [], { inflatedBytes: 0 }));
}

const good = recordsOf(['a', 'b']);
const offsetsOf = (records: readonly CopiedRecord[]) => records.map(({ offset }) => offset);
const refusalsOf = (records: readonly CopiedRecord[]) =>
  records.map(({ refused }) => refused?.detail);

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
      'have a known compression codec',
    ],
    [
      'fewer records than it says',
      { codec: 1, count: 3, payload: gzipSync(good) },
      'contain whole records: record 2 must lie within the batch',
    ],
    ['the same, uncompressed', { count: 3, payload: good }, 'contain whole records: record 2'],
    [
      'a record that breaks off',
      { count: 2, payload: good.subarray(0, -2) },
      'contain whole records: record 1',
    ],
    [
      'a record longer than it says',
      { count: 1, payload: Buffer.from([14, 0, 0, 0, 1, 6, 97, 0]) },
      'contain whole records: record 0',
    ],
    [
      'two thousand million headers',
      { count: 1, payload: recordsWithHeaderCount(2 ** 31 - 1) },
      'contain whole records: record 0 must match its length field',
    ],
    [
      'a negative number of headers',
      { count: 1, payload: recordsWithHeaderCount(-5) },
      'contain whole records: record 0 must not have -5 headers',
    ],
  ];

  it.each(cases)('for %s is consumed as rejected records', async (_, batch, detail) => {
    const after = encodeBatch({ baseOffset: 103, count: 2, payload: good });
    const messages = await read([encodeBatch({ baseOffset: 100, ...batch }), after]);
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

  it('has its last offset where compaction has removed some', async () => {
    const batch = {
      baseOffset: 2 ** 40,
      codec: 1,
      count: 3,
      lastOffsetDelta: 5_000_000,
      payload: bomb,
    };
    const messages = await read([encodeBatch(batch)]);
    expect(offsetsOf(messages)).toEqual([2 ** 40, 2 ** 40 + 1, 2 ** 40 + 5_000_000]);
    expect(messages.map(({ timestampMs }) => timestampMs)).toEqual(
      new Array(3).fill(1789000000000),
    );
  });

  it('may claim 100,000 records; more end the process with a hint', async () => {
    const full = { codec: 1, count: limits.recordsPerRefusedBatch, payload: bomb };
    expect(await read([encodeBatch(full)])).toHaveLength(limits.recordsPerRefusedBatch);
    const more = encodeBatch({ ...full, baseOffset: 50, count: limits.recordsPerRefusedBatch + 1 });
    await expect(read([more])).rejects.toMatchObject({
      code: 'TAILMARK_BATCH_UNREADABLE',
      retriable: false,
      message:
        'Cannot continue reading from Kafka: a record batch that cannot be decoded must contain at most ' +
        '100000 records; the batch at offsets 50 to 100050 contains 100001',
      hint: expect.stringContaining('--to-offset 100051'),
    });
  });

  it('of a format before Kafka 0.11 ends the process', async () => {
    const old = encodeBatch({ count: 1, payload: recordsOf(['v']) });
    old[16] = 1;
    await expect(read([old])).rejects.toMatchObject({ code: 'TAILMARK_BATCH_UNREADABLE' });
  });
});

describe('a record batch whose checksum differs', () => {
  const bad = (batch: Partial<Parameters<typeof encodeBatch>[0]>, at: number) => {
    const bytes = encodeBatch({ baseOffset: 100, count: 2, payload: good, ...batch });
    bytes[at] = (bytes[at] as number) ^ 0x01;
    return bytes;
  };
  const before = encodeBatch({ baseOffset: 98, count: 2, payload: good });
  const after = encodeBatch({ baseOffset: 102, count: 2, payload: good });

  it.each<[string, Buffer]>([
    ['of a value', bad({}, 61 + 5)],
    ['of the attributes', bad({}, 22)],
    ['of a timestamp', bad({}, 30)],
    ['of the producer', bad({}, 45)],
    ['of the checksum', bad({}, 17)],
    ['that makes it a control batch', bad({ isControl: true }, 66)],
  ])('in one bit %s is fetched again, then rejected', async (_, corrupt) => {
    const reader = new RecordBatchReader(maxBatchBytes);
    const response = Buffer.concat([before, corrupt, after]);
    const fetch = async (bytes: Buffer) => {
      const records = await reader.read(bytes, [], { inflatedBytes: 0 });
      return { last: records.lastOffset, records: allOf(records) };
    };
    const first = await fetch(response);
    expect([first.last, offsetsOf(first.records)]).toEqual([99, [98, 99]]);
    const second = await fetch(response.subarray(before.length));
    expect([second.last, offsetsOf(second.records)]).toEqual([103, [100, 101, 102, 103]]);
    const stated = corrupt.readUInt32BE(17).toString(16).padStart(8, '0');
    expect(refusalsOf(second.records)).toEqual([
      expect.stringContaining(
        `The record batch must have the checksum that it states, ${stated}: `,
      ),
      expect.stringContaining('offsets 100 to 101, 2 records, '),
      undefined,
      undefined,
    ]);
    expect(second.records[0]?.refused?.reason).toBe('undecodable_batch');
  });

  it('on the way only is read whole when it is fetched again', async () => {
    const reader = new RecordBatchReader(maxBatchBytes);
    const read = (bytes: Buffer) => reader.read(bytes, [], { inflatedBytes: 0 });
    const first = await read(bad({}, 66));
    expect([first.lastOffset, allOf(first)]).toEqual([-1, []]);
    const again = allOf(await read(encodeBatch({ baseOffset: 100, count: 2, payload: good })));
    expect(again.map(({ value, refused }) => [value?.toString(), refused])).toEqual([
      ['a', undefined],
      ['b', undefined],
    ]);
  });

  it('rejects one record where it says that there is none', async () => {
    const reader = new RecordBatchReader(maxBatchBytes);
    const none = encodeBatch({ baseOffset: 100, count: 2, payload: good });
    none.writeInt32BE(0, 57);
    await reader.read(none, [], { inflatedBytes: 0 });
    const records = await reader.read(none, [], { inflatedBytes: 0 });
    expect([records.lastOffset, offsetsOf(allOf(records))]).toEqual([101, [101]]);
  });

  it('is fetched again, then ends the process, where its header makes no sense', async () => {
    const wrong = encodeBatch({ baseOffset: 100, count: 2, payload: good });
    wrong.writeInt32BE(1_000_002, 57);
    const reader = new RecordBatchReader(maxBatchBytes);
    const first = await reader.read(wrong, [], { inflatedBytes: 0 });
    expect([first.lastOffset, allOf(first)]).toEqual([-1, []]);
    await expect(reader.read(wrong, [], { inflatedBytes: 0 })).rejects.toMatchObject({
      code: 'TAILMARK_BATCH_UNREADABLE',
      message:
        'Cannot continue reading from Kafka: a record batch whose checksum differs must have offsets for its ' +
        'records; its header says offsets 100 to 101 and 1000002 records',
    });
  });

  it('ends the process where its offsets overlap those of the next batch', async () => {
    const long = encodeBatch({ baseOffset: 100, count: 2, payload: good });
    long.writeInt32BE(7, 23);
    const reader = new RecordBatchReader(maxBatchBytes);
    const response = Buffer.concat([long, after]);
    await reader.read(response, [], { inflatedBytes: 0 });
    await expect(reader.read(response, [], { inflatedBytes: 0 })).rejects.toMatchObject({
      code: 'TAILMARK_BATCH_UNREADABLE',
      message:
        'Cannot continue reading from Kafka: a record batch whose checksum differs must end before the next ' +
        'one, at 102; it says that it ends at 107',
    });
  });
});

describe('a record batch', () => {
  it('may have more records than can be refused, and more headers than are read', async () => {
    const count = limits.recordsPerRefusedBatch + 5;
    const payload = recordsOf(new Array(count).fill('v'));
    expect(await read([encodeBatch({ count, payload })])).toHaveLength(count);
    const records = await read([
      encodeBatch({ count: 2, payload: recordsOf(['v', 'w'], new Array(500).fill(['h', null])) }),
    ]);
    expect(records.map(({ value }) => value?.toString())).toEqual(['v', 'w']);
  });

  it('has the headers of each record for who asks, the last of each name', async () => {
    const long = 'x'.repeat(300);
    const first = recordsOf(
      ['a', 'b'],
      [
        ['ce_id', '1'],
        ['größe', long],
        ['ce_id', '2'],
        ['', ''],
      ],
    );
    const second = recordsOf(
      ['c'],
      [
        ['gone', '1'],
        ['gone', null],
        ['__proto__', 'p'],
      ],
    );
    const third = recordsOf([null]);
    const payload = Buffer.concat([first, second, third]);
    const bytes = encodeBatch({ count: 4, payload });
    const records = await new RecordBatchReader(maxBatchBytes).read(bytes, [], {
      inflatedBytes: 0,
    });
    const seen = [];
    for (; records.current !== undefined; records.advance()) {
      const { value, headers } = records.current;
      // Asked for twice, or not at all: the next record is the same.
      if (value?.toString() === 'a') continue;
      headers?.();
      const texts = [...(headers?.() ?? [])].map(([name, of]) => [name, of.toString()]);
      seen.push([value?.toString(), texts]);
    }
    expect(seen).toEqual([
      [
        'b',
        [
          ['ce_id', '2'],
          ['größe', long],
          ['', ''],
        ],
      ],
      ['c', [['__proto__', 'p']]],
      [undefined, []],
    ]);
  });

  it('that is rejected has no headers', async () => {
    const bytes = encodeBatch({ count: 1, payload: Buffer.from([1, 2, 3]) });
    const records = await new RecordBatchReader(maxBatchBytes).read(bytes, [], {
      inflatedBytes: 0,
    });
    expect(records.current?.refused?.reason).toBe('undecodable_batch');
    expect(records.current?.headers?.()).toEqual(new Map());
  });

  it('that is truncated by the end of a response is left to the next one', async () => {
    const whole = encodeBatch({ count: 2, payload: good });
    const next = encodeBatch({ baseOffset: 2, count: 2, payload: good });
    for (const bytes of [1, 20, 60, 61, 62, next.length - 1]) {
      expect(offsetsOf(await read([whole, next.subarray(0, bytes)]))).toEqual([0, 1]);
    }
  });

  it('that compaction has emptied is skipped', async () => {
    const empty = encodeBatch({ count: 0, lastOffsetDelta: 6, payload: Buffer.alloc(0) });
    const reader = new RecordBatchReader(maxBatchBytes);
    const records = await reader.read(empty, [], { inflatedBytes: 0 });
    expect(allOf(records)).toEqual([]);
    expect(records.lastOffset).toBe(6);
  });
});

describe('a response of many batches', () => {
  /** 256 KiB each, so that 16 of them are the limit of four batches. */
  const payload = gzipSync(recordsOf([Buffer.alloc(256 * 1024)]));
  const batches = Array.from({ length: 40 }, (_, baseOffset) =>
    encodeBatch({ baseOffset, codec: gzip, count: 1, payload }),
  );

  it('is truncated at the limit of inflated bytes, and continued from there', async () => {
    const offsets: number[] = [];
    for (let fetches = 0; offsets.length < batches.length; fetches++) {
      expect(fetches).toBeLessThan(4);
      const messages = await read(batches.slice(offsets.length));
      expect(messages.length).toBeLessThanOrEqual(16);
      offsets.push(...offsetsOf(messages));
    }
    expect(offsets).toEqual(Array.from({ length: 40 }, (_, offset) => offset));
  });

  it('is truncated also where small uncompressed batches lie between', async () => {
    const small = encodeBatch({ baseOffset: 1, count: 1, payload: recordsOf(['s']) });
    const mixed = batches.flatMap((batch) => [batch, small]);
    expect((await read(mixed)).length).toBeLessThanOrEqual(32);
  });
});

function recordsWithHeaderCount(count: number): Buffer {
  const body = Buffer.concat([Buffer.from([0, 0, 0, 1, 1]), varint(count)]);
  return Buffer.concat([varint(body.length), body]);
}
