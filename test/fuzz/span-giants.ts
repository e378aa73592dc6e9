import { type SpanFormat, traceReader } from '../../src/assemble/event/span-formats.ts';
import { childrenRules } from '../../src/assemble/event/trace-rules.ts';
import { bytesField, varintField } from '../formats/otlp/proto-writer.ts';
import type { Giant } from './giants.ts';
import { filled, repeatedText } from './otlp-giants.ts';

const longest = 16 << 20;
const id = (bytes: number) => Buffer.alloc(bytes, 1);
const ids = [bytesField(1, id(16)), bytesField(2, id(8))];
const jaeger = `"traceId":"${id(16).toString('base64')}","spanId":"${id(8).toString('base64')}"`;
const zipkin = `"traceId":"${'0a'.repeat(16)}","id":"${'0b'.repeat(8)}","timestamp":1795609800000000`;

/** What one message of spans can do to memory and time of the assembler. */
export const spanGiants: Readonly<Record<string, Giant>> = {
  'OTLP, 16 MiB of empty spans': () =>
    reading(
      'otlp_proto',
      bytesField(1, [bytesField(2, Buffer.alloc(longest - 100, Buffer.from([0x12, 0])))]),
    ),
  'OTLP, 16 MiB of empty events': () =>
    reading(
      'otlp_proto',
      bytesField(1, [
        bytesField(2, [bytesField(2, [...ids, varintField(99, 1), filled(bytesField(11, ''))])]),
      ]),
    ),
  'OTLP JSON, 16 MiB of {}': () =>
    reading('otlp_json', `{"resourceSpans":[{"scopeSpans":[{"spans":[${repeatedText('{}')}]}]}]}`),
  'OTLP JSON, 16 MiB of [': () => reading('otlp_json', '['.repeat(longest)),
  'Jaeger, 16 MiB of tags': () =>
    reading(
      'jaeger_proto',
      Buffer.concat([...ids, filled(bytesField(8, [bytesField(1, 'a'), bytesField(3, 'b')]))]),
    ),
  'Jaeger, 16 MiB of empty logs': () =>
    reading('jaeger_proto', Buffer.concat([...ids, filled(bytesField(9, ''))])),
  'Jaeger JSON, 16 MiB of tags': () =>
    reading('jaeger_json', `{${jaeger},"tags":[${repeatedText('{"key":"a","vStr":"b"}')}]}`),
  'Jaeger JSON, 16 MiB of logs': () =>
    reading('jaeger_json', `{${jaeger},"logs":[${repeatedText('{"fields":[]}')}]}`),
  'Jaeger JSON, 16 MiB of [': () => reading('jaeger_json', '['.repeat(longest)),
  'Zipkin, 10^6 tags': () =>
    reading(
      'zipkin_json',
      `[{${zipkin},"tags":{${Array.from({ length: 1e6 }, (_, i) => `"k${i}":"b"`).join()}}}]`,
    ),
  'Zipkin, 16 MiB of annotations': () =>
    reading(
      'zipkin_json',
      `[{${zipkin},"annotations":[${repeatedText('{"timestamp":1795609800000000,"value":"a"}')}]}]`,
    ),
  'Zipkin, 16 MiB of spans': () => reading('zipkin_json', `[${repeatedText(`{${zipkin}}`)}]`),
};

function reading(format: SpanFormat, given: Buffer | string) {
  const message = Buffer.from(given as string);
  return () => {
    let count = 0;
    const problem = traceReader(format, childrenRules)(message, {
      span: () => count++,
      malformed: (_, origin) => {
        origin.bytes();
        count++;
      },
    });
    if (count === 0 && problem === undefined) throw new Error('nothing was given');
  };
}
