import { expect, test } from 'vitest';
import type { Span } from '../../../src/formats/span.ts';
import { readOtlpJson } from '../../../src/formats/spans/otlp-json.ts';
import { fixtureText } from '../../convert/conversion.ts';

function spansOf(text: string): Span[] {
  const spans: Span[] = [];
  const problem = readOtlpJson(text, {
    span: (span) => spans.push(span),
    malformed: (detail) => expect.unreachable(detail),
  });
  expect(problem).toBeUndefined();
  return spans;
}

const fileOf = (name: string) => fixtureText(`otlp-json/${name}`);

test('the standard’s example, whose ids are capitals', () => {
  expect(spansOf(fileOf('opentelemetry-proto-example.json'))).toEqual([
    {
      traceId: '5b8efff798038103d269b633813fc60c',
      spanId: 'eee19b7ec3c1b174',
      parentSpanId: 'eee19b7ec3c1b173',
      name: "I'm a server span",
      kind: 2,
      startMs: 1544712660000,
      startNs: 0,
      durationMs: 1000,
      endIsSet: true,
      statusCode: 0,
      attributes: new Map([['my.span.attr', 'some value']]),
      resource: new Map([['service.name', 'my.service']]),
      events: [],
      traceState: '',
    },
  ]);
});

test('ids in base64, as libraries of protobuf write JSON', () => {
  const ids = {
    traceId: 'W47/95gDgQPSabYzgT/GDA==',
    spanId: '7uGbfsPBsXQ=',
    parentSpanId: '7uGbfsPBsXM=',
  };
  const read = (raw: object) =>
    spansOf(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [raw] }] }] }))[0];
  expect(read(ids)).toMatchObject({
    traceId: '5b8efff798038103d269b633813fc60c',
    spanId: 'eee19b7ec3c1b174',
    parentSpanId: 'eee19b7ec3c1b173',
  });
  const zero = { traceId: 'AAAAAAAAAAAAAAAAAAAAAA==', spanId: 'AAAAAAAAAAA=' };
  expect(read({ ...zero, parentSpanId: '7uGbfsPBsXM' })).toMatchObject({
    traceId: '',
    spanId: '',
    parentSpanId: '',
  });
});

test('a root whose parent is an empty text', () => {
  const lines = fileOf('otel-js-sdk-child-before-parent.jsonl').trim().split('\n');
  const spans = lines.flatMap(spansOf);
  expect(spans).toHaveLength(4);
  expect(spans.filter(({ parentSpanId }) => parentSpanId === '')).toHaveLength(1);
  expect(spans.at(-1)!.durationMs).toBe(176.321958);
});

test('a resource without attributes', () => {
  const [span] = spansOf(fileOf('telemetrygen-no-service.json'));
  expect(span).toMatchObject({ durationMs: 0.123, resource: new Map() });
});

test('values of all types', () => {
  const values = [
    { stringValue: '' },
    { boolValue: false },
    { intValue: '-7' },
    { intValue: 7 },
    { doubleValue: 0.5 },
    { doubleValue: 'NaN' },
    { arrayValue: { values: [{ intValue: 1 }] } },
    { kvlistValue: {} },
    { bytesValue: 'AA==' },
    {},
    null,
  ];
  const attributes = values.map((value, index) => ({ key: `a${index}`, value }));
  const text = JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [{ attributes }] }] }] });
  const read = [...spansOf(text)[0]!.attributes];
  expect(read).toEqual([
    ['a0', ''],
    ['a1', false],
    ['a2', -7],
    ['a3', 7],
    ['a4', 0.5],
  ]);
});
