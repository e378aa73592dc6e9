import type { EventDecoder } from '../../src/decode/event-decoder.ts';
import { OtlpJsonDecoder } from '../../src/formats/otlp/otlp-json-decoder.ts';
import { OtlpProtoDecoder } from '../../src/formats/otlp/otlp-proto-decoder.ts';
import { testOptions } from '../formats/otlp/outcomes.ts';
import {
  bytesField,
  doubleField,
  fixed64Field,
  varintField,
} from '../formats/otlp/proto-writer.ts';
import type { Giant } from './giants.ts';

const longest = 16 << 20;
const start = 1_795_609_800_000_000_000n;
const attribute = (key: string, value: Buffer) =>
  bytesField(9, [bytesField(1, key), bytesField(2, value)]);
const text = (value: string) => bytesField(1, value);
const times = [fixed64Field(7, start), fixed64Field(8, start + 1_000_000n)];
const unknown = varintField(99, 1);
const call = [
  attribute('gen_ai.operation.name', text('chat')),
  attribute('gen_ai.request.model', text('m')),
];

/** What one message of spans can do to memory and time. */
export const otlpGiants: Readonly<Record<string, Giant>> = {
  '10^6 spans of a call': () => proto(spansOf([...call, ...times], 1e6)),
  '10^6 spans that are none': () => proto(spansOf([bytesField(5, 'GET /')], 1e6)),
  '16 MiB of empty spans': () => proto(repeated(2, Buffer.from([0x12, 0]))),
  '16 MiB of empty resources': () => proto(Buffer.alloc(longest, Buffer.from([0x0a, 0]))),
  '16 MiB of broken spans': () => proto(repeated(2, bytesField(2, varintField(5, 1)))),
  '16 MiB of spans without an end': () => proto(spansOf([...call, times[0] as Buffer])),
  '16 MiB of spans without a model': () => proto(spansOf([call[0] as Buffer, ...times])),
  '16 MiB of spans with a doubled attribute': () => proto(spansOf([...call, ...call, ...times])),
  '16 MiB of spans with a bad duration': () =>
    proto(
      spansOf([
        ...call,
        ...times,
        attribute('gen_ai.response.time_to_first_chunk', doubleField(4, -1)),
      ]),
    ),
  '16 MiB of attributes': () =>
    proto(spansOf([...call, ...times, filled(attribute('a', text('b')))], 1)),
  '16 MiB of events': () =>
    proto(spansOf([...call, ...times, filled(bytesField(11, fixed64Field(1, start)))], 1)),
  '16 MiB of empty events, an unknown field': () =>
    proto(spansOf([...call, ...times, unknown, filled(bytesField(11, ''))], 1)),
  '16 MiB of spans of 19,000 events, an unknown field': () =>
    proto(spansOf([...call, ...times, unknown, Buffer.alloc(38_000, bytesField(11, ''))])),
  '16 MiB of spans of 19,000 attributes, an unknown field': () =>
    proto(
      spansOf([
        ...call,
        ...times,
        unknown,
        Buffer.alloc(19_000 * 8 + 19_000 * 2, attribute('a', text('b'))),
      ]),
    ),
  '16 MiB of names': () =>
    proto(spansOf([...call, ...times, unknown, filled(bytesField(5, 'x'))], 1)),
  '16 MiB of values of an attribute': () =>
    proto(spansOf([...call, ...times, attribute('a', filled(text('b')))], 1)),
  '16 MiB of one text': () =>
    proto(spansOf([...call, ...times, attribute('a', text('x'.repeat(longest - 500)))], 1)),
  '16 MiB of resource attributes': () =>
    proto(
      bytesField(1, [
        bytesField(1, filled(bytesField(1, [bytesField(1, 'a')]))),
        bytesField(2, [bytesField(2, [...call, ...times])]),
      ]),
    ),
  '16 MiB of unknown fields': () => proto(Buffer.alloc(longest, varintField(99, 1))),
  '16 MiB of 0xff': () => proto(Buffer.alloc(longest, 0xff)),
  'a broken resource of 1 MiB before 10^5 spans': () =>
    proto(
      bytesField(1, [
        bytesField(1, Buffer.alloc(1 << 20, varintField(1, 1))),
        bytesField(2, new Array(1e5).fill(bytesField(2, times))),
      ]),
    ),
  'OTLP JSON, 16 MiB of empty spans': () =>
    json(`{"resourceSpans":[{"scopeSpans":[{"spans":[${'{},'.repeat(5e6)}{}]}]}]}`),
  'OTLP JSON, 16 MiB of spans of a call': () => json(requestOf(repeatedText(jsonCall))),
  'OTLP JSON, 16 MiB of attributes': () =>
    json(requestOf(`{"attributes":[${repeatedText('{"key":"a","value":{"stringValue":"b"}}')}]}`)),
  'OTLP JSON, 16 MiB of events': () =>
    json(requestOf(`{"events":[${repeatedText('{"timeUnixNano":"1795609800000000000"}')}]}`)),
  'OTLP JSON, 16 MiB of numbers as attributes': () =>
    json(requestOf(`{"attributes":[${repeatedText('1')}]}`)),
  'OTLP JSON, 10^6 fields of an object': () =>
    json(requestOf(`{${Array.from({ length: 1e6 }, (_, i) => `"k${i}":1`).join()}}`)),
  'OTLP JSON, 16 MiB of [': () => json('['.repeat(longest)),
  'OTLP JSON, depth 10^5': () => json('{"a":'.repeat(1e5)),
};

/** A field over and over, nearly as long as a message may be. */
export function filled(field: Buffer): Buffer {
  return Buffer.alloc(Math.floor((longest - 500) / field.length) * field.length, field);
}

/** A request of one span over and over. */
function spansOf(fields: readonly Buffer[], count?: number): Buffer {
  const span = bytesField(2, fields);
  const most = Math.floor((longest - 100) / span.length);
  return repeated(Math.min(count ?? most, most), span);
}

function repeated(count: number, field: Buffer): Buffer {
  const times = count > 2 ? count : Math.floor((longest - 100) / field.length);
  const spans = count === 1 ? field : Buffer.alloc(times * field.length, field);
  return bytesField(1, [bytesField(2, spans)]);
}

const jsonCall = JSON.stringify({
  ...{ traceId: '0a'.repeat(16), spanId: '0b'.repeat(8), name: 'chat m' },
  ...{ startTimeUnixNano: `${start}`, endTimeUnixNano: `${start + 1_000_000n}` },
  attributes: [
    'gen_ai.operation.name',
    'gen_ai.request.model',
    ...Array.from({ length: 12 }, (_, i) => `gen_ai.attribute.${i}`),
  ].map((key) => ({ key, value: { stringValue: 'chat' } })),
});
const requestOf = (spans: string) => `{"resourceSpans":[{"scopeSpans":[{"spans":[${spans}]}]}]}`;

/** A text over and over, with commas, nearly as long as a message may be. */
export function repeatedText(unit: string): string {
  const count = Math.floor((longest - 1_000) / (unit.length + 1));
  return `${`${unit},`.repeat(count - 1)}${unit}`;
}

const proto = (message: Buffer) => decoding(new OtlpProtoDecoder(testOptions()), message);
const json = (message: string) =>
  decoding(new OtlpJsonDecoder(testOptions()), Buffer.from(message));

/** Decodes a message, of which every item must be given. */
export function decoding(decoder: EventDecoder, message: Buffer) {
  return () => {
    let given = 0;
    const count = decoder.decode(message, {
      event: () => given++,
      reject: (_index, _reason, _detail, from, to) => {
        decoder.letter(message, from, to);
        given++;
      },
      skip: (more) => {
        given += more;
      },
    });
    if (count !== given) throw new Error(`${count} spans, ${given} given`);
  };
}
