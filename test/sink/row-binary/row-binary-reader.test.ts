// Covers src/sink/row-binary/row-binary-writer.ts.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RowBinaryReader } from '../../../src/sink/row-binary/row-binary-reader.ts';
import { RowBinaryWriter } from '../../../src/sink/row-binary/row-binary-writer.ts';

const natural = fc.oneof(
  fc.maxSafeNat(),
  fc.constantFrom(0, 127, 128, 16_383, 16_384, 2 ** 32 - 1, 2 ** 32, Number.MAX_SAFE_INTEGER),
);
const anyText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.constantFrom('', 'größe', '模型', '🚀'.repeat(40)),
);
const value = fc.oneof(
  fc.record({ type: fc.constant('uint8' as const), value: fc.nat(255) }),
  fc.record({
    type: fc.constant('int16' as const),
    value: fc.integer({ min: -32768, max: 32767 }),
  }),
  fc.record({ type: fc.constant('uint32' as const), value: fc.nat(2 ** 32 - 1) }),
  fc.record({ type: fc.constant('uint64' as const), value: natural }),
  fc.record({ type: fc.constant('varUint' as const), value: natural }),
  fc.record({ type: fc.constant('float64' as const), value: fc.double() }),
  fc.record({ type: fc.constant('string' as const), value: anyText }),
);

describe('RowBinary', () => {
  it('is read back as it was written, for any types and any growth of the buffer', () => {
    fc.assert(
      fc.property(
        fc.array(value, { maxLength: 80 }),
        fc.integer({ min: 1, max: 64 }),
        (values, n) => {
          const writer = new RowBinaryWriter(n);
          for (const given of values) {
            if (given.type === 'string') writer.string(given.value);
            else writer[given.type](given.value);
          }
          const bytes = writer.copy();
          expect(bytes.length).toBe(writer.length);
          const reader = new RowBinaryReader(bytes);
          expect(values.map(({ type }) => reader[type]())).toEqual(values.map((v) => v.value));
          expect(reader.atEnd).toBe(true);
        },
      ),
      { seed: 4, numRuns: 300 },
    );
  });

  it('writes numbers like ClickHouse: little endian, lengths of seven bits', () => {
    const writer = new RowBinaryWriter();
    writer.uint32(0x01020304);
    writer.uint64(0x0102030405);
    writer.int16(-2);
    writer.float64(1);
    writer.varUint(300);
    writer.string('ä');
    expect(writer.copy().toString('hex')).toBe(
      ['04030201', '0504030201000000', 'feff', '000000000000f03f', 'ac02', '02c3a4'].join(''),
    );
  });

  it('returns copies, which later chunks do not change', () => {
    const writer = new RowBinaryWriter(4);
    writer.string('first');
    const copy = writer.copy();
    writer.reset();
    expect(writer.length).toBe(0);
    writer.string('other');
    expect(new RowBinaryReader(copy).string()).toBe('first');
  });

  it('makes room for foreign bytes', () => {
    const writer = new RowBinaryWriter(1);
    writer.raw(3, (out, at) => {
      out.set([7, 8], at);
      return at + 2;
    });
    writer.utf8(Buffer.from('x'));
    expect([...writer.copy()]).toEqual([7, 8, 1, 120]);
  });

  it('truncated is a RangeError, for every type', () => {
    const read = (bytes: number[], type: 'uint8' | 'int16' | 'uint32' | 'uint64' | 'float64') =>
      new RowBinaryReader(Buffer.from(bytes))[type]();
    expect(() => read([], 'uint8')).toThrow(RangeError);
    expect(() => read([1], 'int16')).toThrow(RangeError);
    expect(() => read([1, 2, 3], 'uint32')).toThrow(RangeError);
    expect(() => read([1, 2, 3, 4, 5, 6, 7], 'uint64')).toThrow(RangeError);
    expect(() => read([1, 2, 3, 4, 5, 6, 7], 'float64')).toThrow(RangeError);
    expect(() => new RowBinaryReader(Buffer.from([0x80])).varUint()).toThrow(RangeError);
    expect(() => new RowBinaryReader(Buffer.from([3, 97, 98])).string()).toThrow(RangeError);
  });

  it.each([
    ['that never ends', Buffer.alloc(200, 0x80)],
    ['of nine bytes', Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01])],
    ['of 2^53', Buffer.from([0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10])],
  ])('refuses a VarUInt %s', (_, bytes) => {
    expect(() => new RowBinaryReader(bytes).varUint()).toThrow(RangeError);
  });

  it('reads the largest safe VarUInt', () => {
    const bytes = Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f]);
    expect(new RowBinaryReader(bytes).varUint()).toBe(Number.MAX_SAFE_INTEGER);
  });
});
