import avro from 'avsc';
import protobuf from 'protobufjs';
import { describe, expect, it } from 'vitest';
import { recordReaderOf } from '../../../src/topics/record-reader-of.ts';
import { recordDecoder } from './decode-records.ts';

const event = { ts: 1_789_000_000_123, model: 'llm', total_ms: 603.7, itl_ms: [21.4, 19.6, 250.2] };
const counted = { tsMs: event.ts, model: 'llm', totalMs: 603.7, gapsMs: event.itl_ms };

const schema = (items: unknown) => ({
  type: 'record' as const,
  name: 'Timing',
  fields: [
    { name: 'ts', type: 'long' as const },
    { name: 'model', type: 'string' as const },
    { name: 'total_ms', type: 'double' as const },
    { name: 'itl_ms', type: items as avro.Schema },
  ],
});

describe('records whose fields are those of an event', () => {
  it.each([
    ['an array of doubles', { type: 'array', items: 'double' }],
    ['one that may be null', ['null', { type: 'array', items: 'double' }]],
  ])('in Avro have their gaps as %s', (_, items) => {
    const type = avro.Type.forSchema(schema(items));
    const text = JSON.stringify(schema(items));
    const reader = recordReaderOf({ format: 'avro', framing: 'none', schema: { file: 'x', text } });
    const { decode } = recordDecoder(reader);
    expect(decode(type.toBuffer(event)).outcomes).toMatchObject([{ event: counted }]);
    if (!Array.isArray(items)) return;
    const none = type.toBuffer({ ...event, itl_ms: null });
    expect(decode(none).outcomes).toMatchObject([{ event: { ...counted, gapsMs: [] } }]);
  });

  it.each(['double', 'float'])('in Protobuf have their gaps as repeated %s', (scalar) => {
    const text = `syntax = "proto3";
      message Timing { int64 ts = 1; string model = 2; double total_ms = 3; repeated ${scalar} itl_ms = 4; }`;
    const reader = recordReaderOf({
      ...{ format: 'protobuf', framing: 'none' },
      schema: { file: 'x.proto', text },
    });
    const { decode } = recordDecoder(reader);
    const message = protobuf.parse(text, { keepCase: true }).root.lookupType('Timing');
    const gapsMs = scalar === 'float' ? event.itl_ms.map(Math.fround) : event.itl_ms;
    const sent = Buffer.from(message.encode(message.create(event)).finish());
    expect(decode(sent).outcomes).toMatchObject([{ event: { ...counted, gapsMs } }]);
    const none = Buffer.from(message.encode(message.create({ ...event, itl_ms: [] })).finish());
    expect(decode(none).outcomes).toMatchObject([{ event: { ...counted, gapsMs: [] } }]);
  });

  it('have their number by length as a map', () => {
    const itl_ms = { '19.6': 2, '250.2': 1 };
    const expected = [{ event: { ...counted, gapsMs: [19.6, 19.6, 250.2] } }];
    const json = recordDecoder(recordReaderOf({ format: 'json', framing: 'none' }));
    const sent = Buffer.from(JSON.stringify({ ...event, itl_ms }));
    expect(json.decode(sent).outcomes).toMatchObject(expected);
    const map = schema({ type: 'map', values: 'long' });
    const avroFile = { file: 'x', text: JSON.stringify(map) };
    const byAvro = recordReaderOf({ format: 'avro', framing: 'none', schema: avroFile });
    const avroBytes = avro.Type.forSchema(map).toBuffer({ ...event, itl_ms });
    expect(recordDecoder(byAvro).decode(avroBytes).outcomes).toMatchObject(expected);
    const text = `syntax = "proto3";
      message Timing { int64 ts = 1; string model = 2; double total_ms = 3; map<string, uint32> itl_ms = 4; }`;
    const byProtobuf = recordReaderOf({
      ...{ format: 'protobuf', framing: 'none' },
      schema: { file: 'x.proto', text },
    });
    const message = protobuf.parse(text, { keepCase: true }).root.lookupType('Timing');
    const bytes = Buffer.from(message.encode(message.create({ ...event, itl_ms })).finish());
    expect(recordDecoder(byProtobuf).decode(bytes).outcomes).toMatchObject(expected);
  });

  it('in JSON have their gaps, and what is wrong with them costs the record', () => {
    const { decode } = recordDecoder(recordReaderOf({ format: 'json', framing: 'none' }));
    expect(decode(Buffer.from(JSON.stringify(event))).outcomes).toMatchObject([{ event: counted }]);
    const wrong = decode(Buffer.from(JSON.stringify({ ...event, itl_ms: [1, '2'] })));
    expect(wrong.outcomes).toMatchObject([
      { reason: 'bad_duration', detail: 'itl_ms.1 must be a finite number >= 0: it is "2"' },
    ]);
  });
});
