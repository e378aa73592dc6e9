import { describe, expect, test } from 'vitest';
import { ProtoReader, wireTypes } from '../../../src/formats/protobuf/proto-reader.ts';
import { mulberry32 } from '../../base/seeded-random.ts';
import {
  bytesField,
  doubleField,
  fixed32Field,
  fixed64Field,
  varintField,
} from '../otlp/proto-writer.ts';

/** The only field of a message. */
function only(message: Buffer): ProtoReader {
  const reader = new ProtoReader(message);
  expect(reader.next()).toBe(true);
  return reader;
}

describe('values', () => {
  test.each([0n, 1n, 127n, 128n, 2n ** 31n, 2n ** 32n, 2n ** 53n - 1n, 2n ** 63n, 2n ** 64n - 1n])(
    '%s as a varint and as a fixed64',
    (value) => {
      for (const message of [varintField(3, value), fixed64Field(3, value)]) {
        const reader = only(message);
        expect(reader.bigUint()).toBe(value);
        expect(reader.uint()).toBe(Number(value));
        expect(reader.int()).toBe(Number(BigInt.asIntN(64, value)));
        expect(reader.bool()).toBe(value !== 0n);
        expect(reader.next()).toBe(false);
        expect(reader.fault.text).toBe('');
      }
    },
  );

  test('texts, doubles, fixed32, messages, and fields that are not looked at', () => {
    const message = Buffer.concat([
      bytesField(1, 'größe'),
      doubleField(2, -0.1),
      varintField(536_870_911, 1),
      fixed32Field(16, 0xffffffff),
      bytesField(5, [varintField(1, 7), bytesField(2, '')]),
    ]);
    const reader = new ProtoReader(message);
    const read: unknown[] = [];
    while (reader.next()) {
      if (reader.field === 1) read.push(reader.text());
      else if (reader.field === 2) read.push(reader.double());
      else if (reader.field === 16) read.push(reader.uint());
      else if (reader.field === 5) {
        for (const inner = reader.message(); inner.next(); ) read.push(inner.field, inner.wireType);
      }
    }
    expect(read).toEqual(['größe', -0.1, 0xffffffff, 1, 0, 2, 2]);
  });

  test('a varint longer than it must be', () => {
    expect(only(Buffer.from([0x88, 0x80, 0x00, 0x85, 0x80, 0x00])).uint()).toBe(5);
  });
});

describe('what is wrong', () => {
  test.each([
    ['a tag that breaks off', [0x80], 0, /a tag must be complete/],
    ['a varint that breaks off', [0x08, 0x80], 0, /a varint must be complete/],
    ['a varint of 70 bits', [0x08, ...new Array(9).fill(0xff), 0x02], 0, /at most 64 bits/],
    ['a fixed64 that breaks off', [0x09, 1, 2, 3, 4, 5, 6, 7], 0, /a fixed64 must be complete/],
    ['a fixed32 that breaks off', [0x0d, 1, 2, 3], 0, /a fixed32 must be complete/],
    ['a length that lies', [0x08, 1, 0x12, 2, 9], 2, /field 2 .* the 1 bytes left, .* length of 2/],
    ['a length of 2^63', [0x0a, ...new Array(9).fill(0x80), 1], 0, /length of 9223372036854775808/],
    ['field 0', [0x00, 0x00], 0, /at least 1, and is 0/],
    ['a field of 2^29', [0x80, 0x80, 0x80, 0x80, 0x10, 0], 0, /below 2\^29/],
    ['a group', [0x0b, 0x0c], 0, /field 1 must not be a group/],
    ['the end of a group', [0x0c], 0, /field 1 must not be a group/],
    ['wire type 6', [0x0e, 0], 0, /wire type of 0, 1, 2 or 5, and has 6/],
  ])('%s', (_, bytes, at, text) => {
    const reader = new ProtoReader(Buffer.from(bytes));
    while (reader.next());
    expect(reader.fault.text).toMatch(text);
    expect(reader.fault.at).toBe(at);
    expect(reader.next()).toBe(false);
  });

  test('stops the reader of the message around it', () => {
    const reader = new ProtoReader(
      Buffer.concat([bytesField(1, [Buffer.from([0])]), varintField(2, 1)]),
    );
    expect(reader.next()).toBe(true);
    expect(reader.message().next()).toBe(false);
    expect(reader.next()).toBe(false);
    expect(reader.fault.at).toBe(2);
  });

  test('a value of another kind', () => {
    const reader = only(varintField(4, 1));
    expect(reader.is(wireTypes.varint)).toBe(true);
    expect(reader.is(wireTypes.bytes)).toBe(false);
    expect(reader.fault.text).toBe('field 4 must be a length, and is a varint');
  });
});

test('random bytes are read within their range only, to their end or to what is wrong', () => {
  const random = mulberry32(9);
  for (let i = 0; i < 20_000; i++) {
    const length = Math.floor(random() * 40);
    const bytes = Buffer.from(
      Array.from({ length: length + 20 }, () => Math.floor(random() ** 2 * 256)),
    );
    const reader = new ProtoReader(bytes, 10, 10 + length);
    let last = 9;
    while (reader.next()) {
      expect(reader.at).toBeGreaterThan(last);
      last = reader.at;
      if (reader.wireType !== wireTypes.bytes) continue;
      expect(reader.start).toBeGreaterThan(last);
      expect(reader.end).toBeLessThanOrEqual(10 + length);
    }
    expect(reader.fault.at).toBeLessThan(10 + length);
  }
});
