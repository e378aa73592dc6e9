import { describe, expect, test } from 'vitest';
import { limits } from '../../../src/base/limits.ts';
import { OtlpJsonDecoder } from '../../../src/formats/otlp/otlp-json-decoder.ts';
import { readJaegerJson } from '../../../src/formats/spans/jaeger-json.ts';
import { readJaegerProto } from '../../../src/formats/spans/jaeger-proto.ts';
import { readJaegerUiJson } from '../../../src/formats/spans/jaeger-ui-json.ts';
import { readOtelJsJson } from '../../../src/formats/spans/otel-js-json.ts';
import { readOtlpJson } from '../../../src/formats/spans/otlp-json.ts';
import type { SpanSink } from '../../../src/formats/spans/span-reader.ts';
import { readZipkinJson } from '../../../src/formats/spans/zipkin-json.ts';
import { jsonOf } from '../otlp/oracle.ts';
import { decodeAll, generalPath, testOptions, testProtoDecoder } from '../otlp/outcomes.ts';
import { bytesField, fixed64Field, varintField } from '../otlp/proto-writer.ts';
import { readOtlpProto } from '../otlp/read-otlp-proto.ts';

const most = limits.spanParts;
const ofSpan = 'A span must have at most 20000 attributes and events: it has more';
const ofResource = 'A resource must have at most 20000 attributes: it has more';

const start = 1_795_609_800_000_000_000n;
const text = (value: string) => bytesField(1, value);
const pair = (field: number, key: string, value: string) =>
  bytesField(field, [bytesField(1, key), bytesField(2, text(value))]);
const call = [pair(9, 'gen_ai.operation.name', 'chat'), pair(9, 'gen_ai.request.model', 'm')];
const times = [fixed64Field(7, start), fixed64Field(8, start + 2_000_000n)];
const ids = [bytesField(1, Buffer.alloc(16, 1)), bytesField(2, Buffer.alloc(8, 2))];
const repeated = (count: number, field: Buffer) => Buffer.alloc(count * field.length, field);
const attributes = (count: number) =>
  Buffer.concat(Array.from({ length: count }, (_, i) => pair(9, `k${i}`, 'v')));
const event = (count: number) =>
  bytesField(11, [fixed64Field(1, start), repeated(count, pair(3, 'k', 'v'))]);

function request(span: readonly Buffer[], resource: Buffer = Buffer.alloc(0)): Buffer {
  return bytesField(1, [bytesField(1, resource), bytesField(2, [bytesField(2, span)])]);
}

describe('a span of OTLP', () => {
  // Each has as many parts as it is given, of which the call has two.
  test.each<[string, (parts: number) => Buffer[]]>([
    ['attributes', (parts) => [attributes(parts - 2)]],
    ['events', (parts) => [repeated(parts - 2, event(0))]],
    ['events without a time', (parts) => [repeated(parts - 2, bytesField(11, ''))]],
    ['an event with attributes', (parts) => [event(parts - 3)]],
    [
      'all of them',
      (parts) => [attributes(6_998), event(6_999), repeated(parts - 14_000, event(0))],
    ],
  ])('may have 20,000 parts, as %s, and no more, on each path', (_, parts) => {
    for (const unknown of [[], [varintField(99, 1)]]) {
      const { decoder, decode } = testProtoDecoder();
      const span = (count: number) =>
        request([...ids, ...call, ...times, ...unknown, ...parts(count)]);
      const whole = decode(span(most)).outcomes;
      expect(whole).toMatchObject([{ event: { model: 'm', totalMs: 2 } }]);
      expect(decoder.fallbackCount).toBe(0);
      const beyond = span(most + 1);
      const { outcomes } = decode(beyond);
      expect(outcomes).toEqual([{ index: 0, reason: 'bad_field', detail: ofSpan }]);
      expect(outcomes).toEqual(generalPath()(beyond));
      expect(whole).toEqual(generalPath()(span(most)));
    }
  });

  test('is rejected by itself, and by what stands before the limit', () => {
    const { decode } = testProtoDecoder();
    const good = bytesField(2, [...call, ...times]);
    const beyond = bytesField(2, [...call, attributes(most), Buffer.from([0xff])]);
    const broken = bytesField(2, [...call, varintField(5, 1), attributes(most)]);
    const { outcomes } = decode(bytesField(1, [bytesField(2, [good, beyond, broken, good])]));
    expect(outcomes).toMatchObject([
      { event: { model: 'm' } },
      { index: 1, reason: 'bad_field', detail: ofSpan },
      { index: 2, reason: 'invalid_protobuf' },
      { event: { model: 'm' } },
    ]);
  });

  test('is read whose resource has 20,000 attributes, and no more', () => {
    const { decode } = testProtoDecoder();
    const resource = (count: number) => repeated(count, pair(1, 'k', 'v'));
    const span = [...call, ...times];
    expect(decode(request(span, resource(most))).outcomes).toMatchObject([
      { event: { model: 'm' } },
    ]);
    const beyond = request(span, resource(most + 1));
    const expected = [{ index: 0, reason: 'bad_field', detail: ofResource }];
    expect(decode(beyond).outcomes).toEqual(expected);
    expect(generalPath()(beyond)).toEqual(expected);
  });

  test('has the same limits in JSON', () => {
    const options = testOptions();
    const decoder = new OtlpJsonDecoder(options);
    const decode = (message: Buffer) =>
      decodeAll(decoder, options, Buffer.from(jsonOf(message))).outcomes;
    const span = (...parts: Buffer[]) => request([...call, ...times, ...parts]);
    const within = [span(attributes(most - 2)), span(attributes(6_997), event(most - 7_000))];
    const beyond = [span(attributes(most - 1)), span(attributes(6_998), event(most - 7_000))];
    for (const message of within)
      expect(decode(message)).toMatchObject([{ event: { model: 'm' } }]);
    for (const message of beyond) {
      expect(decode(message)).toEqual([{ index: 0, reason: 'bad_field', detail: ofSpan }]);
    }
    const resource = (count: number) => repeated(count, pair(1, 'k', 'v'));
    expect(decode(request([...call, ...times], resource(most)))).toMatchObject([{ event: {} }]);
    expect(decode(request([...call, ...times], resource(most + 1)))).toEqual([
      { index: 0, reason: 'bad_field', detail: ofResource },
    ]);
  });
});

const hex = { trace: '0a'.repeat(16), span: '0b'.repeat(8) };
const base64 = (id: string) => Buffer.from(id, 'hex').toString('base64');
const list = <T>(count: number, item: T) => new Array<T>(count).fill(item);
const fields = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']));
const json = (value: unknown) => Buffer.from(JSON.stringify(value));
const ofText =
  (read: (message: string, sink: SpanSink) => string | undefined) =>
  (message: Buffer, sink: SpanSink) =>
    read(message.toString(), sink);

const otlpJson = (span: object, resource: object = {}) =>
  json({ resourceSpans: [{ resource, scopeSpans: [{ spans: [span] }] }] });
const jaegerTag = { key: 'k', vStr: 'v' };
const jaegerJson = (span: object) =>
  json({ traceId: base64(hex.trace), spanId: base64(hex.span), ...span });
const jaegerProto = (...parts: Buffer[]) => Buffer.concat([...ids, ...parts]);
const tag = (field: number) => bytesField(field, [bytesField(1, 'k'), bytesField(3, 'v')]);
const log = (count: number) => bytesField(9, repeated(count, tag(2)));
const zipkin = (span: object) => json([{ traceId: hex.trace, id: hex.span, ...span }]);
const annotation = { timestamp: 1, value: 'a' };
const jaegerUi = (span: object) => json({ data: [{ spans: [{ traceID: hex.trace, ...span }] }] });

type Read = (message: Buffer, sink: SpanSink) => string | undefined;

test.each<[string, Read, (parts: number) => Buffer, string]>([
  ['otlp_proto', readOtlpProto, (parts) => request([...ids, attributes(parts)]), ofSpan],
  ['otlp_json', ofText(readOtlpJson), (n) => otlpJson({ attributes: list(n, {}) }), ofSpan],
  ['otlp_json, events', ofText(readOtlpJson), (n) => otlpJson({ events: list(n, 1) }), ofSpan],
  [
    'otlp_json, resource',
    ofText(readOtlpJson),
    (n) => otlpJson({}, { attributes: list(n, {}) }),
    ofResource,
  ],
  ['jaeger_proto', readJaegerProto, (n) => jaegerProto(repeated(n, tag(8))), ofSpan],
  ['jaeger_proto, logs', readJaegerProto, (n) => jaegerProto(repeated(n, log(0))), ofSpan],
  ['jaeger_proto, fields of a log', readJaegerProto, (n) => jaegerProto(log(n - 1)), ofSpan],
  [
    'jaeger_proto, process',
    readJaegerProto,
    (n) => jaegerProto(bytesField(10, [bytesField(1, 's'), repeated(n, tag(2))])),
    ofResource,
  ],
  ['jaeger_json', ofText(readJaegerJson), (n) => jaegerJson({ tags: list(n, jaegerTag) }), ofSpan],
  ['jaeger_json, logs', ofText(readJaegerJson), (n) => jaegerJson({ logs: list(n, 1) }), ofSpan],
  [
    'jaeger_json, fields of a log',
    ofText(readJaegerJson),
    (n) => jaegerJson({ logs: [{ fields: list(n - 1, jaegerTag) }] }),
    ofSpan,
  ],
  [
    'jaeger_json, process',
    ofText(readJaegerJson),
    (n) => jaegerJson({ process: { serviceName: 's', tags: list(n, jaegerTag) } }),
    ofResource,
  ],
  ['zipkin_json', ofText(readZipkinJson), (n) => zipkin({ tags: fields(n) }), ofSpan],
  [
    'zipkin_json, annotations',
    ofText(readZipkinJson),
    (n) => zipkin({ annotations: list(n, annotation) }),
    ofSpan,
  ],
  ['jaeger_ui', ofText(readJaegerUiJson), (n) => jaegerUi({ tags: list(n, {}) }), ofSpan],
  ['vercel_ai', ofText(readOtelJsJson), (n) => json([{ attributes: fields(n) }]), ofSpan],
])('a span of %s has 20,000 parts at most', (_, read, messageOf, sentence) => {
  const outcomesOf = (message: Buffer) => {
    const outcomes: unknown[] = [];
    const problem = read(message, {
      span: () => outcomes.push('a span'),
      malformed: (detail, origin, reason) => {
        expect(origin.bytes().length).toBeGreaterThan(0);
        outcomes.push({ reason, detail });
      },
    });
    expect(problem).toBeUndefined();
    return outcomes;
  };
  expect(outcomesOf(messageOf(most))).toEqual(['a span']);
  expect(outcomesOf(messageOf(most + 1))).toEqual([{ reason: 'bad_field', detail: sentence }]);
});
