// Covers src/convert/avro/byte-stream.ts and src/convert/avro/container.ts.

import { readFileSync } from 'node:fs';
import { deflateRawSync } from 'node:zlib';
import avro from 'avsc';
import { describe, expect, it } from 'vitest';
import { avroContainer, mappedContainer } from '../../../src/convert/avro/avro-container.ts';
import { convert, expectedEvents, fixture, fixtureBytes, textFile } from '../conversion.ts';

const page = readFileSync(
  new URL('../../../docs/how-to/schema-registry.md', import.meta.url),
  'utf8',
);
const yaml = /^ {4}# avro\n((?: {4}.*\n)+)/m.exec(page)?.[1]?.replace(/^ {4}/gm, '') ?? '';
const mapped = mappedContainer(yaml, 'avro.yaml');
const timings = fixtureBytes('avro/timings-object-container.avro');

const schema = {
  type: 'record',
  name: 'Timing',
  fields: [
    { name: 'ts', type: 'long' },
    { name: 'model', type: 'string' },
    { name: 'total_ms', type: 'double' },
  ],
} as const;
const eventOf = (i: number) => ({ ts: 1795608000000 + i, model: `m${i % 3}`, total_ms: i / 8 });

/** A container as another library writes it. */
function containerOf(count: number, options: object): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    const encoder = new avro.streams.BlockEncoder(avro.Type.forSchema(schema as never), {
      codecs: {
        null: (bytes: Buffer, done: (error: null, packed: Buffer) => void) => done(null, bytes),
        deflate: (bytes: Buffer, done: (error: null, packed: Buffer) => void) =>
          done(null, deflateRawSync(bytes)),
      },
      ...options,
    } as never);
    encoder.on('data', (piece: Buffer) => pieces.push(piece));
    encoder.on('end', () => resolve(Buffer.concat(pieces)));
    encoder.on('error', reject);
    for (let i = 0; i < count; i++) encoder.write(eventOf(i));
    encoder.end();
  });
}

/** A number as Avro writes it. */
function long(value: number): Buffer {
  const bytes: number[] = [];
  let left = value < 0 ? -value * 2 - 1 : value * 2;
  for (; left >= 128; left = Math.floor(left / 128)) bytes.push((left % 128) | 128);
  return Buffer.from([...bytes, left]);
}
const sized = (bytes: Buffer | string) =>
  Buffer.concat([long(Buffer.byteLength(bytes)), Buffer.from(bytes)]);
const sync = Buffer.alloc(16, 7);
const headerOf = (entries: Readonly<Record<string, string>>) =>
  Buffer.concat([
    Buffer.from('Obj\x01'),
    ...Object.entries(entries).flatMap(([key, value]) => {
      const entry = Buffer.concat([sized(key), sized(value)]);
      return [long(-1), long(entry.length), entry];
    }),
    long(0),
    sync,
  ]);
const blockOf = (count: number, bytes: Buffer, marker = sync) =>
  Buffer.concat([long(count), sized(bytes), marker]);
const header = headerOf({ 'avro.schema': JSON.stringify(schema) });
const type = avro.Type.forSchema(schema as never);
const recordOf = (i: number) => type.toBuffer(eventOf(i));

describe('an Avro container', () => {
  it('of another software has the expected events, by a mapping', async () => {
    for (const file of [fixture('avro/timings-object-container.avro'), textFile(timings, 1)]) {
      const { events, rejects, skipped } = await convert(mapped, file);
      const inOrder = events.toSorted((a, b) => Number(a.ts) - Number(b.ts));
      expect(inOrder).toEqual(expectedEvents('timings'));
      expect([rejects, skipped]).toEqual([[], 0]);
    }
  });

  it.each([
    ['null', 1],
    ['deflate', 97],
    ['deflate', 1 << 20],
  ])('by %s, in pieces of %i bytes, has every record of every block', async (codec, piece) => {
    const bytes = await containerOf(1_000, { codec, blockSize: 500 });
    const { events, rejects } = await convert(avroContainer, textFile(bytes, piece));
    expect(events).toEqual(Array.from({ length: 1_000 }, (_, i) => eventOf(i)));
    expect(rejects).toEqual([]);
  });

  it('may have metadata in parts, and a model from the command line', async () => {
    const { model, ...nameless } = eventOf(1);
    const fields = schema.fields.filter(({ name }) => name !== 'model');
    const text = JSON.stringify({ ...schema, fields });
    const bytes = Buffer.concat([
      headerOf({ 'avro.codec': 'null', other: '', 'avro.schema': text }),
      blockOf(0, Buffer.alloc(0)),
      blockOf(1, avro.Type.forSchema(JSON.parse(text)).toBuffer(nameless)),
    ]);
    const { events } = await convert(avroContainer, textFile(bytes), { model: 'given' });
    expect(events).toEqual([{ ...nameless, model: 'given' }]);
  });

  it('costs a broken record the rest of its block, and no other', async () => {
    const bytes = Buffer.concat([
      header,
      blockOf(3, Buffer.concat([recordOf(0), long(1), long(-5), recordOf(2)])),
      blockOf(1, Buffer.concat([recordOf(3), Buffer.from([9])])),
      blockOf(1, recordOf(4)),
    ]);
    const { events, rejects } = await convert(avroContainer, textFile(bytes));
    expect(events).toEqual([0, 3, 4].map(eventOf));
    expect(rejects.map(({ reason, detail }) => `${reason}: ${detail}`)).toEqual([
      'invalid_avro: Record 2 of 3 in block 1 ends it: A text must have a length >= 0: it is -5 (at byte 2)',
      'invalid_avro: Block 2 must end with its last record: 1 bytes follow',
    ]);
    expect(rejects[1]?.bytes).toBe('\x09');
  });

  it.each([
    ['another beginning', Buffer.from('Obj\x02'), /must begin with "Obj" and byte 1/],
    ['no bytes', Buffer.alloc(0), /must begin with "Obj" and byte 1/],
    ['a header that is cut off', header.subarray(0, 90), /it ends within a value of the metadata$/],
    ['no schema', headerOf({ 'avro.codec': 'null' }), /must have a schema$/],
    [
      'a schema that is none',
      headerOf({ 'avro.schema': '{' }),
      /^The schema cannot be used: an Avro/,
    ],
    [
      'another codec',
      headerOf({ 'avro.schema': '"int"', 'avro.codec': 'snappy' }),
      /must have the codec null or deflate: it has "snappy"$/,
    ],
    [
      'a schema without fields',
      Buffer.concat([
        headerOf({ 'avro.schema': '{"type":"record","name":"a","fields":[]}' }),
        blockOf(2 ** 50, Buffer.alloc(0)),
      ]),
      /^The schema cannot be used: an event must be a record with fields/,
    ],
    [
      'a block that is cut off',
      Buffer.concat([header, blockOf(1, recordOf(1)).subarray(0, 9)]),
      /it ends within block 1$/,
    ],
    [
      'a block without its marker',
      Buffer.concat([header, blockOf(1, recordOf(1), Buffer.alloc(16))]),
      /^Block 1 must end with the file's marker: it does not$/,
    ],
    [
      'a block of a terabyte',
      Buffer.concat([header, long(1), long(2 ** 40)]),
      /^Block 1 must have at most 67108864 bytes: it announces 1 records in 1099511627776 bytes$/,
    ],
    [
      'a number without end',
      Buffer.concat([header, Buffer.alloc(11, 0xff)]),
      /^A number of block 1 must have at most 10 bytes: it has more$/,
    ],
    [
      'a bomb',
      Buffer.concat([
        headerOf({ 'avro.schema': '"int"', 'avro.codec': 'deflate' }),
        blockOf(1, deflateRawSync(Buffer.alloc((64 << 20) + 1))),
      ]),
      /^Block 1 must inflate to at most 67108864 bytes: /,
    ],
  ])('with %s is rejected', async (_, bytes, detail) => {
    const { events, rejects } = await convert(avroContainer, textFile(bytes, 65_536));
    expect(events).toEqual([]);
    expect(rejects).toEqual([
      { reason: 'invalid_avro', detail: expect.stringMatching(detail), bytes: '' },
    ]);
  });
});
