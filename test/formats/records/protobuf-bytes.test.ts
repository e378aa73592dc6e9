import { describe, expect, it } from 'vitest';
import { recordReaderOf } from '../../../src/topics/record-reader-of.ts';
import { fastestMs } from '../../fuzz/fastest-ms.ts';
import { recordDecoder, rejectionOf, schemasOf } from './decode-records.ts';

describe('bytes that are no message', () => {
  const text = `syntax = "proto3"; message M { M m = 1; string s = 2; repeated M list = 3;
    ${Array.from({ length: 500 }, (_, i) => `int32 f${i} = ${i + 10};`).join(' ')} }`;
  const reader = recordReaderOf({
    format: 'protobuf',
    framing: 'none',
    schema: { file: 'x', text },
  });
  const { decode } = recordDecoder(reader);
  const nestedBy = (levels: number) => {
    let bytes = Buffer.alloc(0);
    for (let i = 0; i < levels; i++) {
      const length: number[] = [];
      let left = bytes.length;
      for (; left >= 0x80; left >>>= 7) length.push((left & 0x7f) | 0x80);
      bytes = Buffer.concat([Buffer.from([0x0a, ...length, left]), bytes]);
    }
    return bytes;
  };

  it.each<[string, Buffer, RegExp]>([
    [
      'a length that lies',
      Buffer.from([0x12, 0xff, 0xff, 0xff, 0xff, 0x07]),
      /invalid_protobuf: A text of 2147483647 bytes must end/,
    ],
    [
      'a length of 2^63',
      Buffer.from([0x12, ...Array(9).fill(0xff), 0x01]),
      /invalid_protobuf: A text of .* bytes must end/,
    ],
    [
      'a number that is cut off',
      Buffer.from([0x50, 0x80]),
      /invalid_protobuf: A number must end within the record/,
    ],
    [
      'a field number of 0',
      Buffer.from([0x02, 0]),
      /must have a number from 1 to 536870911: it is 2 \/ 8/,
    ],
    [
      'a field number of 2^29',
      Buffer.from([0x82, 0x80, 0x80, 0x80, 0x10, 0]),
      /must have a number from 1 to 536870911/,
    ],
    ['an encoding of 7', Buffer.from([0x0f]), /must have an encoding from 0 to 5: field 1 has 7/],
    ['a group that does not end', Buffer.from([0x0b]), /Group 1 must have an end/],
    ['an unknown group that does not end', Buffer.from([0x9b, 0x7d]), /must end within the record/],
    [
      'an end without a group',
      Buffer.from([0x0c]),
      /A group must end where it began: 1 ends in none/,
    ],
    [
      'a group with another end',
      Buffer.from([0x9b, 0x7d, 0xa4, 0x7d]),
      /A group must end where it began: 2004 ends in 2003/,
    ],
    ['100,000 groups', Buffer.alloc(100_000, 0x0b), /^too_deep: /],
    ['200 levels of 500 defaults', nestedBy(200), /at most 4 values a byte/],
    ['text that is not UTF-8', Buffer.from([0x12, 0x01, 0xff]), /^invalid_utf8: /],
    [
      '100,000 messages of 500 defaults',
      Buffer.from(Array(100_000).fill([0x1a, 0x00]).flat()),
      /at most 4 values a byte/,
    ],
    [
      'JSON',
      Buffer.from('{"ts":1795608000123,"model":"ranker"}'),
      /; the record is JSON: "{\\"ts\\":1/,
    ],
  ])('are refused at once: %s', (_, bytes, message) => {
    const rejection = rejectionOf(decode(bytes));
    expect(fastestMs(() => decode(bytes))).toBeLessThanOrEqual(200);
    expect(rejection).toMatch(message);
  });
});

describe('the header of a registry', () => {
  const text = `syntax = "proto3"; message A { string ts = 1; }
    message B { message C { string ts = 1; string model = 2; double total_ms = 3; } }`;
  const schemas = schemasOf({ 7: { type: 'PROTOBUF', text, references: [] } });
  const reader = recordReaderOf({ format: 'protobuf', framing: 'confluent', schemas });
  const { decode } = recordDecoder(reader);
  const header = [0, 0, 0, 0, 7];
  const body = [
    ...[0x0a, 20, ...Buffer.from('2026-11-25T12:00:00Z')],
    ...[0x12, 1, 0x6d, 0x19, 0, 0, 0, 0, 0, 0, 0x14, 0x40],
  ];

  it('is followed by the place of the message', () => {
    // Two indexes, 1 and 0, in zigzag.
    const { outcomes } = decode(Buffer.from([...header, 0x04, 0x02, 0x00, ...body]));
    expect(outcomes).toMatchObject([{ event: { model: 'm', totalMs: 5, tsMs: 1795608000000 } }]);
  });

  it.each([
    [
      [0, 0, 0],
      /^invalid_protobuf: The message must begin with byte 0 and a schema id in 4 bytes \(framing: confluent\): it has 3 bytes$/,
    ],
    [[...Buffer.from('{"a":1}')], /\(framing: confluent\): it is JSON: "{\\"a\\":1}"$/],
    [[1, 0, 0, 0, 7, 0], /\(framing: confluent\): it is bytes 01 00 00 00 07 00$/],
    [
      [0, 0, 0, 0, 8, 0],
      /^unknown_schema: Schema 8 cannot be used: the registry has none with that id$/,
    ],
    [header, /message indexes must follow: it ends within them/],
    [[...header, 0x80, 0x80, 0x80, 0x80, 0x80, 1], /a message index must have at most 5 bytes/],
    [[...header, 0x01], /1 to 32 message indexes must follow: it announces -1/],
    [[...header, 0xfe, 0xff, 0xff, 0xff, 0x0f], /it announces 2147483647/],
    [[...header, 0x02, 0x01], /a message index must not be negative: it is -1/],
    [
      [...header, 0x02, 0x0a],
      /^unknown_schema: Schema 7 cannot be used: the message at index 5 must be in the schema/,
    ],
  ])('is refused: %j', (bytes, message) => {
    expect(rejectionOf(decode(Buffer.from(bytes)))).toMatch(message);
  });
});
