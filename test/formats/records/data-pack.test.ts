import avro from 'avsc';
import { describe, expect, it } from 'vitest';
import { recordReaderOf } from '../../../src/topics/record-reader-of.ts';
import { testDecoder } from '../../decode/outcomes.ts';
import {
  documentedMapping,
  fixture,
  messagesOf,
  recordDecoder,
  rejectionOf,
  schemasOf,
} from './decode-records.ts';

const avsc = fixture('kafka/timing.avsc').toString();
const proto = fixture('kafka/timing.proto').toString();
const guids = {
  avro: '89791762-2336-4186-9674-299b90a802e2',
  protobuf: '00112233-4455-6677-8899-aabbccddeeff',
  json: 'ffffffff-ffff-4fff-bfff-ffffffffffff',
};
const schemas = schemasOf({
  1: { type: 'AVRO', text: avsc, references: [] },
  2: { type: 'JSON', text: '{}', references: [] },
  3: { type: 'PROTOBUF', text: proto, references: [] },
  [guids.avro]: { type: 'AVRO', text: avsc, references: [] },
  [guids.protobuf]: { type: 'PROTOBUF', text: proto, references: [] },
});

/** A GUID as headers have it. */
const idOfGuid = (guid: string) => Buffer.from(`01${guid.replaceAll('-', '')}`, 'hex');

/** Outcomes of the expected events, by the decoder of timing events, in the order of their ids. */
const expected = fixture('expected/timings.ndjson')
  .toString()
  .trim()
  .split('\n')
  .flatMap((line) => testDecoder().decode(Buffer.from(line)).outcomes);

const idOf = (outcome: object) =>
  'event' in outcome ? String((outcome.event as { requestId: string }).requestId) : '';
const inOrder = <Each extends object>(outcomes: readonly Each[]) =>
  outcomes.toSorted((a, b) => (idOf(a) < idOf(b) ? -1 : 1));

describe("timing events of a team's own schema", () => {
  it.each([
    ['avro', 'timings_avro', recordReaderOf({ format: 'avro', framing: 'confluent', schemas })],
    [
      'protobuf',
      'timings_protobuf',
      recordReaderOf({ format: 'protobuf', framing: 'confluent', schemas }),
    ],
    ['json', 'timings_jsonschema', recordReaderOf({ format: 'json', framing: 'confluent' })],
  ])('in %s with the header of a registry are the expected 20', (name, file, reader) => {
    const { decode } = recordDecoder(reader, documentedMapping(name));
    const results = messagesOf(`kafka/${file}.jsonl`).map((message) => decode(message));
    expect(results.map(({ consumed }) => consumed)).toEqual(Array(20).fill(1));
    const outcomes = results.flatMap((result) => result.outcomes);
    expect(inOrder(outcomes)).toEqual(inOrder(expected));
  });

  it.each([
    ['avro', 'timings_avro', 5, { file: 'timing.avsc', text: avsc }],
    ['protobuf', 'timings_protobuf', 6, { file: 'timing.proto', text: proto }],
  ] as const)('in %s by a schema in a file are the same', (format, file, header, schema) => {
    const reader = recordReaderOf({ format, framing: 'none', schema });
    const { decode } = recordDecoder(reader, documentedMapping(format));
    const messages = messagesOf(`kafka/${file}.jsonl`).map((each) => each.subarray(header));
    const outcomes = messages.flatMap((message) => decode(message).outcomes);
    expect(inOrder(outcomes)).toEqual(inOrder(expected));
  });

  it.each([
    ['avro', 'timings_avro', 5, []],
    ['protobuf', 'timings_protobuf', 6, [0]],
    ['json', 'timings_jsonschema', 5, []],
  ] as const)('in %s with the id in a header are the same', (format, file, start, rest) => {
    const reader =
      format === 'json'
        ? recordReaderOf({ format, framing: 'confluent' })
        : recordReaderOf({ format, framing: 'confluent', schemas });
    const { decode } = recordDecoder(reader, documentedMapping(format));
    const outcomes = messagesOf(`kafka/${file}.jsonl`).flatMap((message, at) => {
      const id = at % 2 === 0 ? message.subarray(0, 5) : idOfGuid(guids[format]);
      const header = Buffer.concat([id, Buffer.from(rest)]);
      const record = message.subarray(start);
      const result = decode(record, () => new Map([['__value_schema_id', header]]));
      expect(result.letters).toEqual([record]);
      return result.outcomes;
    });
    expect(inOrder(outcomes)).toEqual(inOrder(expected));
  });

  it('are rejected where the header holds no id, whatever the message begins with', () => {
    const reader = recordReaderOf({ format: 'avro', framing: 'confluent', schemas });
    const { decoder, decode } = recordDecoder(reader, documentedMapping('avro'));
    const [message = Buffer.alloc(0)] = messagesOf('kafka/timings_avro.jsonl');
    for (const bytes of [[], [0, 0, 0, 1], [2, 0, 0, 0, 1], [1, ...new Array(15).fill(7)]]) {
      const headers = () => new Map([['__value_schema_id', Buffer.from(bytes)]]);
      expect(decoder.prepare(message, headers)).toBeUndefined();
      expect(rejectionOf(decode(message, headers))).toMatch(
        /^invalid_avro: The header __value_schema_id must be byte 1 and a GUID in 16 bytes, or byte 0 and a schema id in 4 \(framing: confluent\): it is /,
      );
    }
    const unknown = () =>
      new Map([['__value_schema_id', idOfGuid('00000000-0000-4000-8000-00000000abcd')]]);
    expect(rejectionOf(decode(message.subarray(5), unknown))).toBe(
      'unknown_schema: Schema 00000000-0000-4000-8000-00000000abcd cannot be used: the registry has none with that id',
    );
    // A GUID is in headers only.
    const guid = Buffer.concat([idOfGuid(guids.avro), message.subarray(5)]);
    expect(rejectionOf(decode(guid))).toMatch(/^invalid_avro: The message must begin with byte 0/);
  });

  it('are dead letters as they came where the schema is of another type', () => {
    const reader = recordReaderOf({ format: 'avro', framing: 'confluent', schemas });
    const { decode } = recordDecoder(reader, documentedMapping('avro'));
    const [message = Buffer.alloc(0)] = messagesOf('kafka/timings_protobuf.jsonl');
    const result = decode(message);
    expect(rejectionOf(result)).toBe(
      "unknown_schema: Schema 3 cannot be used: it must be AVRO, as the topic's format is: it is PROTOBUF",
    );
    expect(result.letters).toEqual([message]);
  });

  it('are read each by the schema it was written with', () => {
    const first = JSON.parse(avsc) as { fields: object[] };
    const added = { name: 'region', type: { type: 'map', values: 'string' } };
    const second = { ...first, fields: [added, ...first.fields.toReversed()] };
    const text = JSON.stringify(second);
    const evolving = schemasOf({
      1: { type: 'AVRO', text: avsc, references: [] },
      6: { type: 'AVRO', text, references: [] },
    });
    const reader = recordReaderOf({ format: 'avro', framing: 'confluent', schemas: evolving });
    const { decode } = recordDecoder(reader, documentedMapping('avro'));
    const oldType = avro.Type.forSchema(first as avro.Schema);
    const newType = avro.Type.forSchema(second as avro.Schema);
    const outcomes = messagesOf('kafka/timings_avro.jsonl').flatMap((message, i) => {
      if (i % 2 === 0) return decode(message).outcomes;
      const value = oldType.fromBuffer(message.subarray(5)) as object;
      const bytes = newType.toBuffer({ ...value, region: { a: 'eu' } });
      return decode(Buffer.concat([Buffer.from([0, 0, 0, 0, 6]), bytes])).outcomes;
    });
    expect(inOrder(outcomes)).toEqual(inOrder(expected));
  });
});
