import avro from 'avsc';
import { describe, expect, it } from 'vitest';
import { compileAvro } from '../../../src/formats/records/avro/compile-avro.ts';
import { ByteCursor } from '../../../src/formats/records/byte-cursor.ts';
import { recordReaderOf } from '../../../src/topics/record-reader-of.ts';
import { SeededRandom } from '../../base/seeded-random.ts';
import { fastestMs } from '../../fuzz/fastest-ms.ts';
import { mappingOf, recordDecoder, rejectionOf } from './decode-records.ts';
import { RandomAvro } from './random-avro.ts';

/** Long integers of avsc as bigint, so that none is rounded. */
const bigLong = avro.types.LongType.__with({
  fromBuffer: (bytes: Buffer) => bytes.readBigInt64LE(),
  toBuffer(value: bigint) {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(value);
    return bytes;
  },
  fromJSON: BigInt,
  toJSON: Number,
  isValid: (value: unknown) => typeof value === 'bigint',
  compare: (a: bigint, b: bigint) => Number(a - b),
});

function encoded(schema: unknown, value: unknown): Buffer {
  const type = avro.Type.forSchema(schema as avro.Schema, {
    wrapUnions: true,
    registry: { long: bigLong },
  });
  return type.toBuffer(value);
}

function read(schema: unknown, bytes: Buffer): unknown {
  const cursor = new ByteCursor(bytes, 0, bytes.length, 'invalid_avro');
  const value = compileAvro(JSON.stringify(schema))(cursor);
  expect(cursor.pos).toBe(bytes.length);
  return value;
}

const record = (...types: unknown[]) => ({
  type: 'record',
  name: 'R',
  fields: types.map((type, i) => ({ name: `f${i}`, type })),
});

/** The zigzag varint of a number. */
function long(value: bigint | number): Buffer {
  let left = BigInt.asUintN(64, (BigInt(value) << 1n) ^ (BigInt(value) >> 63n));
  const bytes: number[] = [];
  for (; left >= 0x80n; left >>= 7n) bytes.push(Number(left & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(left)]);
}

describe('records that avsc encodes', () => {
  it('are read as they were, for 2,000 schemas', () => {
    const random = new SeededRandom(40);
    for (let i = 0; i < 2_000; i++) {
      const { schema, value, expected } = new RandomAvro(random).record();
      const bytes = encoded(schema, value);
      expect(read(schema, bytes)).toEqual(expected);
    }
  });

  it('have no value where they are cut off, or go on', () => {
    const random = new SeededRandom(41);
    for (let i = 0; i < 300; i++) {
      const { schema, value } = new RandomAvro(random).record();
      const bytes = encoded(schema, value);
      const reader = recordReaderOf({
        format: 'avro',
        framing: 'none',
        schema: { file: 'x.avsc', text: JSON.stringify(schema) },
      });
      const { decode } = recordDecoder(reader);
      const cut = bytes.subarray(0, random.between(1, bytes.length - 1));
      if (bytes.length > 1) expect(rejectionOf(decode(cut))).toMatch(/^invalid_avro: /);
      const longer = Buffer.concat([bytes, Buffer.from([0])]);
      expect(rejectionOf(decode(longer))).toMatch(
        /^invalid_avro: A record must end with its message: 1 bytes follow/,
      );
    }
  });
});

describe('a schema', () => {
  it('may name types before, of a namespace, and itself', () => {
    const schema = {
      type: 'record',
      name: 'Node',
      namespace: 'com.example',
      fields: [
        { name: 'kind', type: { type: 'enum', name: 'Kind', symbols: ['A', 'B'] } },
        { name: 'same', type: 'com.example.Kind' },
        { name: 'other', type: 'Kind' },
        { name: 'next', type: ['null', 'Node'] },
      ],
    };
    const next = { kind: 'B', same: 'A', other: 'B', next: null };
    const value = { kind: 'A', same: 'B', other: 'A', next: { 'com.example.Node': next } };
    expect(read(schema, encoded(schema, value))).toEqual({ ...value, next });
  });

  it('may refer to other schemas', () => {
    const stage = { type: 'record', name: 'x.Stage', fields: [{ name: 'ms', type: 'int' }] };
    const text = JSON.stringify(record({ type: 'array', items: 'x.Stage' }));
    const cursor = new ByteCursor(Buffer.from([2, 14, 0]), 0, 3, 'invalid_avro');
    expect(compileAvro(text, [JSON.stringify(stage)])(cursor)).toEqual({ f0: [{ ms: 7 }] });
  });

  it.each([
    ['timestamp-millis', 'long', long(1795608000123n), '2026-11-25T12:00:00.123Z'],
    ['timestamp-micros', 'long', long(1795608000123456n), '2026-11-25T12:00:00.123456Z'],
    ['timestamp-nanos', 'long', long(1795608000123456789n), '2026-11-25T12:00:00.123456789Z'],
    ['timestamp-millis', 'long', long(-1), '1969-12-31T23:59:59.999Z'],
    ['timestamp-millis', 'long', long(2n ** 60n), String(2n ** 60n)],
    ['local-timestamp-millis', 'long', long(5), 5],
    ['time-millis', 'int', long(5), 5],
    ['unknown', 'long', long(5), 5],
    ['uuid', 'string', Buffer.from('\x04ab'), 'ab'],
  ])('has %s as %s', (logicalType, type, bytes, expected) => {
    expect(read(record({ type, logicalType }), bytes)).toEqual({ f0: expected });
  });

  it.each([
    [2, [0x02, 0x01], '0.01'],
    [2, [0x04, 0xff, 0x38], '-2.00'],
    [0, [0x02, 0x7b], '123'],
    [3, [0x00], '0.000'],
  ])('has decimals of %d places', (scale, bytes, expected) => {
    const schema = record({ type: 'bytes', logicalType: 'decimal', precision: 9, scale });
    expect(read(schema, Buffer.from(bytes))).toEqual({ f0: expected });
  });

  it('has durations and UUIDs of fixed size', () => {
    const schema = record(
      { type: 'fixed', name: 'D', size: 12, logicalType: 'duration' },
      { type: 'fixed', name: 'U', size: 16, logicalType: 'uuid' },
    );
    const bytes = Buffer.alloc(28);
    bytes.writeUInt32LE(1, 0);
    bytes.writeUInt32LE(2, 4);
    bytes.writeUInt32LE(3, 8);
    expect(read(schema, bytes)).toEqual({
      f0: { months: 1, days: 2, millis: 3 },
      f1: '00000000-0000-0000-0000-000000000000',
    });
  });

  it.each([
    ['{', 'an Avro schema must be valid JSON: it is not'],
    ['7', 'a type must be a name, a list or an object: it is 7'],
    ['"Missing"', 'a type must be defined before it is used: "Missing" is not'],
    ['"constructor"', 'a type must be defined before it is used: "constructor" is not'],
    ['{"type":"__proto__"}', 'a type must be defined before it is used: "__proto__" is not'],
    ['{"type":"record","name":"R"}', 'record "R" must have a list of fields'],
    ['{"type":"record","fields":[]}', 'a record, enum or fixed must have a name'],
    ['{"type":"record","name":"R","fields":[null]}', 'a field must have a name'],
    ['{"type":"enum","name":"E"}', 'an enum must have a list of symbols'],
    ['{"type":"fixed","name":"F","size":-1}', 'a fixed must have a size >= 0: it is -1'],
    ['{"type":"array"}', 'a type must be a name, a list or an object: it is missing'],
    [`"${'x'.repeat(2 ** 20)}"`, 'a schema must have at most 1048576 characters: it has 1048578'],
    [
      `${'{"type":"array","items":'.repeat(40_000)}"null"${'}'.repeat(40_000)}`,
      'a schema must nest at most 64 levels: it nests deeper',
    ],
    ['['.repeat(500_000), 'an Avro schema must be valid JSON: it is not'],
    [
      `${'['.repeat(500_000)}${']'.repeat(500_000)}`,
      'a schema must nest at most 64 levels: it nests deeper',
    ],
  ])('is refused: %.60s', (text, message) => {
    expect(() => compileAvro(text)).toThrow(message);
  });

  it('of a megabyte is compiled in a moment, and makes no code of its names', () => {
    const fields = Array.from({ length: 9_000 }, (_, i) => ({
      name: `f${i}`,
      type: record('int'),
    }));
    const text = JSON.stringify({ type: 'record', name: 'x"); process.exit(); ("', fields });
    expect(text.length).toBeGreaterThan(0.7 * 2 ** 20);
    expect(fastestMs(() => compileAvro(text))).toBeLessThanOrEqual(1_000);
  });
});

describe('a record', () => {
  const decoderOf = (schema: unknown) => {
    const text = JSON.stringify(schema);
    const reader = recordReaderOf({ format: 'avro', framing: 'none', schema: { file: 'x', text } });
    return recordDecoder(reader, mappingOf('start: {path: t}\ntotal: {path: d, unit: ms}')).decode;
  };
  const items = { type: 'array', items: 'null' };
  const nothing = { type: 'record', name: 'E', fields: [] };
  const recursive = record(['null', 'R'], { type: 'array', items: 'R' });

  it.each<[string, unknown, Buffer, RegExp]>([
    [
      'a billion nulls',
      items,
      Buffer.concat([long(1e9), long(0)]),
      /at most 4 values a byte and 10000, or 250000/,
    ],
    ['2^62 nulls', items, long(2n ** 62n), /at most 4 values a byte/],
    ['-2^63 nulls', items, Buffer.concat([long(-(2n ** 63n)), long(0)]), /at most 4 values a byte/],
    [
      'a billion empty records',
      { type: 'array', items: nothing },
      long(1e9),
      /at most 4 values a byte/,
    ],
    [
      'a billion texts',
      { type: 'array', items: 'string' },
      long(1e9),
      /must end within the record|at most 4/,
    ],
    ['a billion keys', { type: 'map', values: 'null' }, long(1e9), /must end within the record/],
    [
      'a text of 2 GB',
      'string',
      long(2 ** 31),
      /A text of 2147483648 bytes must end within the record: 0 are left/,
    ],
    [
      'a text of 2^62 bytes',
      'string',
      long(2n ** 62n),
      /must have a length >= 0: it is 4611686018427387904/,
    ],
    ['a negative length', 'bytes', long(-1), /must have a length >= 0: it is -1/],
    [
      'a branch that is not there',
      ['null', 'int'],
      long(2),
      /must be one of its 2 types: it is number 2/,
    ],
    [
      'a symbol that is not there',
      { type: 'enum', name: 'E', symbols: ['A'] },
      long(-1),
      /one of its 1 symbols/,
    ],
    ['a number of 11 bytes', 'long', Buffer.alloc(11, 0xff), /at most 10 bytes/],
    ['a boolean of 7', 'boolean', Buffer.from([7]), /must be byte 0 or 1: it is 7/],
    [
      'a fixed that is cut off',
      { type: 'fixed', name: 'F', size: 9 },
      Buffer.from([1]),
      /of 9 bytes must end/,
    ],
  ])('with %s is refused at once', (_, type, bytes, message) => {
    const decode = decoderOf(record(type));
    const rejection = rejectionOf(decode(bytes));
    expect(fastestMs(() => decode(bytes))).toBeLessThanOrEqual(200);
    expect(rejection).toMatch(/^invalid_avro: /);
    expect(rejection).toMatch(message);
  });

  it('that nests 100,000 levels is refused', () => {
    const decode = decoderOf(recursive);
    expect(rejectionOf(decode(Buffer.alloc(100_000, 2)))).toBe(
      'too_deep: A record must nest at most 64 levels: it nests deeper; the record is bytes 02 02 02 02 02 02 02 02 02 02 02 02 …',
    );
  });

  it('with a text that is not UTF-8 is refused as such', () => {
    const decode = decoderOf(record('string'));
    expect(rejectionOf(decode(Buffer.from([0x02, 0xff])))).toMatch(/^invalid_utf8: /);
  });

  it.each([
    ['{"ts":1795608000123}', /the record is JSON: "{\\"ts\\":1795608000123}"$/],
    ['Obj\x01\x04', /the record is an Avro object container file$/],
    [
      '\0\0\0\0\x07abc',
      /the record is the header of a schema registry \(byte 0, schema id 7\); set framing: confluent$/,
    ],
    ['\x1f\x8b\x08', /the record is gzip$/],
  ])('that is something else is said to be: %j', (text, message) => {
    const decode = decoderOf(
      record('string', 'long', 'long', 'long', 'double', 'double', 'double'),
    );
    expect(rejectionOf(decode(Buffer.from(text, 'latin1')))).toMatch(message);
  });
});
