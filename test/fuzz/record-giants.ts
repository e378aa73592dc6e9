import { recordReaderOf } from '../../src/topics/record-reader-of.ts';
import { fixture, mappingOf, recordDecoder, schemasOf } from '../formats/records/decode-records.ts';
import type { Giant } from './giants.ts';
import { decoding, repeatedText } from './otlp-giants.ts';

const longest = 16 << 20;
const mapping = `
unwrap: log
where: [{path: m}]
start: {path: t, unit: ms}
total: {path: took, unit: ms}
model: m
`;
const event = '{"t":1795608000123,"took":5,"m":"a"}';

/** What one message of records can do to memory and time. */
export const recordGiants: Readonly<Record<string, Giant>> = {
  '10^4 events, a line each': () => json(`${event}\n`.repeat(1e4)),
  '16 MiB of events, a line each': () => json(lines(event)),
  '16 MiB of events in an array': () => json(`[${repeatedText(event)}]`),
  '16 MiB of lines that no rule maps': () => json(lines('{}')),
  '16 MiB of lines that are no JSON': () => json(lines('{')),
  '16 MiB of lines of one digit': () => json(lines('1')),
  '16 MiB of lines with a mistake': () => json(lines('{"m":1}')),
  '16 MiB of wrapped events': () => json(lines(JSON.stringify({ log: event }))),
  '16 MiB of [': () => json('['.repeat(longest)),
  '16 MiB of [] in an array': () => json(`[${repeatedText('[]')}]`),
  '10^6 fields of an object': () =>
    json(`{${Array.from({ length: 1e6 }, (_, i) => `"k${i}":1`).join()}}`),
  'Avro, 1 MiB of 0xff': () => avro(Buffer.alloc(1 << 20, 0xff)),
  'Avro, 1 MiB of zeros': () => avro(Buffer.alloc(1 << 20)),
};

function lines(unit: string): string {
  return `${unit}\n`.repeat(Math.floor(longest / (unit.length + 1)));
}

function json(text: string) {
  const reader = recordReaderOf({ format: 'json', framing: 'none' });
  return decoding(recordDecoder(reader, mappingOf(mapping)).decoder, Buffer.from(text));
}

function avro(bytes: Buffer) {
  const text = fixture('kafka/timing.avsc').toString();
  const schemas = schemasOf({ 1: { type: 'AVRO', text, references: [] } });
  const reader = recordReaderOf({ format: 'avro', framing: 'confluent', schemas });
  const { decoder } = recordDecoder(reader);
  bytes.writeUInt32BE(1, 1);
  bytes[0] = 0;
  return decoding(decoder, bytes);
}
