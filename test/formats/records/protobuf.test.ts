import protobuf from 'protobufjs';
import { describe, expect, it } from 'vitest';
import { ByteCursor } from '../../../src/formats/records/byte-cursor.ts';
import { MessageReader } from '../../../src/formats/records/protobuf/compile-message.ts';
import { parseProto } from '../../../src/formats/records/protobuf/parse-proto.ts';
import { SeededRandom } from '../../base/seeded-random.ts';
import { fastestMs } from '../../fuzz/fastest-ms.ts';

const scalars = [
  ...['int32', 'int64', 'uint32', 'uint64', 'sint32', 'sint64', 'fixed32', 'fixed64', 'sfixed32'],
  ...['sfixed64', 'bool', 'float', 'double', 'string', 'bytes'],
];
const everything = `
syntax = "proto3";
package test.v1;
import "google/protobuf/timestamp.proto";
enum Kind { NONE = 0; GOOD = 1; BAD = -2; }
message Everything {
  ${scalars.map((type, i) => `${type} plain_${type} = ${i + 1};`).join('\n  ')}
  ${scalars.map((type, i) => `repeated ${type} list_${type} = ${i + 21};`).join('\n  ')}
  ${scalars.map((type, i) => `optional ${type} maybe_${type} = ${i + 41};`).join('\n  ')}
  map<string, double> by_name = 61;
  map<int64, Everything> byNumber = 62;
  Kind kind = 63;
  repeated Kind kinds = 64;
  Everything inner = 65;
  repeated Everything inners = 66;
  oneof choice { string text = 67; int64 number = 536870911; }
}`;

const int64s = ['0', '1', '-1', '300', '9007199254740991', '9007199254740992', '-9007199254740992'];
const signed = [...int64s, '9223372036854775807', '-9223372036854775808', '-9007199254740990'];
const unsigned = ['0', '7', '9007199254740991', '9007199254740993', '18446744073709551615'];

/** A value of a scalar as protobufjs takes it, and as the reader must give it. */
function scalarOf(type: string, random: SeededRandom): { value: unknown; expected: unknown } {
  const same = (value: unknown) => ({ value, expected: value });
  switch (type) {
    case 'int64':
    case 'sint64':
    case 'sfixed64':
      return exact(random.pick(signed));
    case 'uint64':
    case 'fixed64':
      return exact(random.pick(unsigned));
    case 'uint32':
    case 'fixed32':
      return same(random.pick([0, 1, 127, 128, 4_294_967_295]));
    case 'bool':
      return same(random.chance(0.5));
    case 'float':
      return same(Math.fround(random.unit()));
    case 'double':
      return same(random.pick([0.1, -1e300, 7]));
    case 'string':
      return same(random.pick(['a', 'größe 🙂', '\uFFFD', '__proto__']));
    case 'bytes': {
      const value = Buffer.from(Array.from({ length: random.between(1, 9) }, (_, i) => i * 31));
      return { value, expected: value.toString('hex') };
    }
    default:
      return same(random.pick([1, -1, 2_147_483_647, -2_147_483_648]));
  }
}

function exact(digits: string) {
  const number = Number(digits);
  const isExact = Math.abs(number) < 2 ** 53 && BigInt(number) === BigInt(digits);
  return { value: digits, expected: isExact ? number : digits };
}

const absentOf = (type: string) =>
  type === 'bool' ? false : type === 'string' || type === 'bytes' ? '' : 0;

/** A message of Everything, and what must be read of it. */
function randomMessage(random: SeededRandom, depth: number) {
  const value: Record<string, unknown> = {};
  const expected: Record<string, unknown> = { kind: 'NONE' };
  const put = (name: string, field: { value: unknown; expected: unknown }) => {
    value[name] = field.value;
    expected[name] = field.expected;
  };
  for (const type of scalars) {
    expected[`plain_${type}`] = absentOf(type);
    if (random.chance(0.3)) put(`plain_${type}`, scalarOf(type, random));
    if (random.chance(0.3)) put(`maybe_${type}`, scalarOf(type, random));
    if (random.chance(0.3)) {
      const items = Array.from({ length: random.between(1, 4) }, () => scalarOf(type, random));
      put(`list_${type}`, {
        value: items.map((item) => item.value),
        expected: items.map((item) => item.expected),
      });
    }
  }
  if (random.chance(0.3)) put('by_name', same({ queue: 1.5, constructor: 0 }));
  if (random.chance(0.3)) put('kind', same('BAD'));
  if (random.chance(0.3)) put('kinds', same(['GOOD', 'NONE', 'BAD']));
  if (random.chance(0.5)) put('text', same('x'));
  else put('number', exact('-5'));
  if (depth > 0) {
    if (random.chance(0.5)) put('inner', randomMessage(random, depth - 1));
    const inner = randomMessage(random, depth - 1);
    const key = random.pick(['7', '-9223372036854775808']);
    put('byNumber', { value: { [key]: inner.value }, expected: { [key]: inner.expected } });
    put('inners', { value: [inner.value], expected: [inner.expected] });
  }
  return { value, expected };
}

const same = (value: unknown) => ({ value, expected: value });

const roots = new Map<string, protobuf.Root>();
const files = new Map<string, ReturnType<typeof parseProto>>();

/** Encodes by protobufjs, with all the code that it makes. */
function encoded(text: string, name: string, value: object): Buffer {
  let root = roots.get(text);
  if (root === undefined) {
    root = protobuf.parse(text, new protobuf.Root(), { keepCase: true }).root;
    for (const file of ['timestamp', 'duration', 'wrappers', 'struct']) {
      const known = protobuf.common.get(`google/protobuf/${file}.proto`);
      if (known?.nested !== undefined) root.addJSON(known.nested);
    }
    roots.set(text, root);
  }
  const type = root.lookupType(name);
  return Buffer.from(type.encode(type.fromObject(value)).finish());
}

function read(text: string, name: string, bytes: Buffer): unknown {
  const file = files.get(text) ?? parseProto(text);
  files.set(text, file);
  const cursor = new ByteCursor(bytes, 0, bytes.length, 'invalid_protobuf');
  return new MessageReader(file.named(name)).read(cursor);
}

describe('messages that protobufjs encodes', () => {
  it('are read as they were, for 1,000 messages', () => {
    const random = new SeededRandom(7);
    for (let i = 0; i < 1_000; i++) {
      const { value, expected } = randomMessage(random, 2);
      const bytes = encoded(everything, 'test.v1.Everything', value);
      expect(read(everything, 'Everything', bytes)).toEqual(expected);
    }
  });

  it('have their well-known types as plain values', () => {
    const text = `syntax = "proto3";
      import "google/protobuf/timestamp.proto";
      import "google/protobuf/duration.proto";
      import "google/protobuf/wrappers.proto";
      import "google/protobuf/struct.proto";
      message M {
        google.protobuf.Timestamp at = 1;
        google.protobuf.Timestamp far = 2;
        google.protobuf.Duration took = 3;
        google.protobuf.Duration back = 4;
        google.protobuf.DoubleValue share = 5;
        google.protobuf.Int64Value zero = 6;
        google.protobuf.Struct any = 7;
        map<string, google.protobuf.Duration> stages = 8;
        google.protobuf.BoolValue absent = 9;
      }`;
    const bytes = encoded(text, 'M', {
      at: { seconds: '1795608000', nanos: 123_000_001 },
      far: { seconds: '99999999999999' },
      took: { seconds: 0, nanos: 4_788_624 },
      back: { seconds: -1, nanos: -500_000_000 },
      share: { value: 0.5 },
      zero: {},
      any: { fields: { list: { listValue: { values: [{ numberValue: 1 }, { nullValue: 0 }] } } } },
      stages: { queue: { nanos: 5 } },
    });
    expect(read(text, 'M', bytes)).toEqual({
      at: '2026-11-25T12:00:00.123000001Z',
      far: { seconds: 99_999_999_999_999, nanos: 0 },
      took: 0.004788624,
      back: -1.5,
      share: 0.5,
      zero: 0,
      any: { list: [1, null] },
      stages: { queue: 5e-9 },
    });
  });

  it('have groups, and fields that came in parts or in another packing', () => {
    const text = `syntax = "proto2";
      message M {
        optional group Stage = 1 { optional string name = 1; optional int32 ms = 2; }
        repeated int32 packed = 3 [packed = true];
        repeated int32 plain = 4;
        optional int32 last = 5 [default = 9];
      }`;
    const bytes = Buffer.from([
      ...[0x0b, 0x0a, 0x01, 0x71, 0x10, 0x07, 0x0c],
      ...[0x18, 0x01, 0x1a, 0x02, 0x02, 0x03, 0x22, 0x02, 0x04, 0x05, 0x20, 0x06],
    ]);
    expect(read(text, 'M', bytes)).toEqual({
      stage: { name: 'q', ms: 7 },
      packed: [1, 2, 3],
      plain: [4, 5, 6],
    });
    const nested = `syntax = "proto3"; message M { N n = 1; } message N { int32 a = 1; int32 b = 2; }`;
    const parts = Buffer.from([0x0a, 0x02, 0x08, 0x01, 0x0a, 0x02, 0x10, 0x02]);
    expect(read(nested, 'M', parts)).toEqual({ n: { a: 1, b: 2 } });
  });

  it('may have fields that the schema does not know, of every encoding', () => {
    const text = 'syntax = "proto3"; message M { string a = 1; }';
    const unknown = [
      ...[0x10, 0x96, 0x01, 0x19, 1, 2, 3, 4, 5, 6, 7, 8, 0x22, 0x02, 0, 0],
      ...[0x2b, 0x33, 0x34, 0x2c, 0x35, 1, 2, 3, 4],
    ];
    // Field 1 as a number: its encoding is that of another schema.
    const bytes = Buffer.from([...unknown, 0x08, 0x05, 0x0a, 0x01, 0x78]);
    expect(read(text, 'M', bytes)).toEqual({ a: 'x' });
  });
});

describe('a .proto file', () => {
  const nested = `syntax = "proto3"; package com.example;
    import "shared.proto";
    enum E { A = 0; }
    service S { rpc Go(First) returns (First); }
    message First { string name = 1; map<string, int32> m = 2;
      message Inner { message Deep { int32 x = 1; } E e = 1; }
      enum Other { B = 0; } }
    message Second { Shared shared = 1; First.Inner inner = 2; .com.example.First first = 3; }`;
  const shared = 'syntax = "proto3"; package com.example; message Shared { int32 n = 1; }';
  const references = [{ name: 'shared.proto', text: shared }];

  it('has its messages by their place, without those of its imports', () => {
    const file = parseProto(nested, references);
    const nameAt = (...indexes: number[]) => file.at(indexes).fullName;
    expect(nameAt(0)).toBe('.com.example.First');
    expect(nameAt(1)).toBe('.com.example.Second');
    expect(nameAt(0, 0, 0)).toBe('.com.example.First.Inner.Deep');
    expect(() => file.at([2])).toThrow(
      'the message at index 2 must be in the schema: it has 2 there',
    );
    expect(file.named('com.example.First.Inner').fullName).toBe('.com.example.First.Inner');
    expect(file.named('Second').fullName).toBe('.com.example.Second');
    expect(() => file.named('Shared')).toThrow(
      'message "Shared" must be in the file: it has First, Second',
    );
  });

  it('may declare options, extensions, and types that registries know', () => {
    const text = `syntax = "proto3"; package a;
      import "confluent/meta.proto";
      import "confluent/type/decimal.proto";
      import "google/type/money.proto";
      import "google/protobuf/descriptor.proto";
      extend google.protobuf.FieldOptions { string note = 50001; }
      message M { option (x.y) = { z: [1, 2] };
        string id = 1 [(note) = "n", (confluent.field_meta) = { doc: "d" }];
        confluent.type.Decimal price = 2; google.type.Money cost = 3; }`;
    const bytes = Buffer.from([0x0a, 0x01, 0x61, 0x12, 0x02, 0x08, 0x01]);
    expect(read(text, 'M', bytes)).toEqual({ id: 'a', price: {} });
  });

  it.each([
    ['message {', /^a \.proto file must be valid: illegal type name/],
    ['syntax = "proto3"; message M { Missing m = 1; }', /must be valid: no such/],
    [
      'syntax = "proto3"; import "other.proto";',
      /^an import must be a well-known file or a reference/,
    ],
    ['syntax = "proto3"; message M { int32 a = 1; int32 b = 1; }', /must be valid: duplicate/],
    ['syntax = "proto3"; message M { int32 a = 1; } message M {}', /must be valid: duplicate/],
    [`syntax = "proto3"; ${'message M {'.repeat(90_000)}`, /must be valid: max depth exceeded/],
    [`syntax = "proto3"; message M { option a = ${'{ b: '.repeat(100_000)}`, /must be valid/],
    [`option a = "${'\\'.repeat(900_000)}`, /must be valid/],
    [`/*${'*'.repeat(1_000_000)}`, /must be valid/],
    [`${'('.repeat(1_000_000)}`, /must be valid/],
    [`${'a.'.repeat(500_000)}`, /must be valid/],
    [`package ${'a.'.repeat(400_000)}a;`, /must be valid/],
    ['x'.repeat(2 ** 20 + 1), /^a schema must have at most 1048576 characters/],
  ])('is refused in a moment: %.60s', (text, message) => {
    const refuse = () => expect(() => parseProto(text).at([0])).toThrow(message);
    expect(fastestMs(refuse)).toBeLessThanOrEqual(3_000);
  });

  it('of a megabyte is parsed in a moment', () => {
    const messages = Array.from(
      { length: 20_000 },
      (_, i) => `message M${i} { int32 a = 1; M${i} m = 2; }`,
    );
    const text = `syntax = "proto3"; ${messages.join(' ')}`.slice(0, 2 ** 20);
    const whole = text.slice(0, text.lastIndexOf('message'));
    const parse = () => expect(parseProto(whole).at([100]).name).toBe('M100');
    expect(fastestMs(parse)).toBeLessThanOrEqual(10_000);
  });

  it('becomes no code', () => {
    const evaluate = globalThis.Function;
    let made = 0;
    const counting = new Proxy(evaluate, {
      apply(target, self, args) {
        made++;
        return Reflect.apply(target, self, args);
      },
      construct(target, args) {
        made++;
        return Reflect.construct(target, args);
      },
    });
    globalThis.Function = counting;
    try {
      read(
        nested.replace(/import.*\n/, '').replace('Shared shared = 1;', ''),
        'First',
        Buffer.from([0x0a, 1, 0x61]),
      );
    } finally {
      globalThis.Function = evaluate;
    }
    expect(made).toBe(0);
  });

  it('names fields as it likes', () => {
    const text = `syntax = "proto3"; message M { int32 constructor = 2; int32 toString = 3; int32 hasOwnProperty = 4; }`;
    const fields = read(text, 'M', Buffer.from([0x10, 2, 0x18, 3, 0x20, 4]));
    expect(Object.entries(fields as object)).toEqual([
      ['constructor', 2],
      ['toString', 3],
      ['hasOwnProperty', 4],
    ]);
    expect(Object.getPrototypeOf(fields)).toBe(Object.prototype);
  });
});
