import { expect, test } from 'vitest';
import {
  keepingReader,
  type SpanFormat,
  traceReader,
} from '../../src/assemble/event/span-formats.ts';
import { childrenRules, tritonRules } from '../../src/assemble/event/trace-rules.ts';
import { hasParent } from '../../src/assemble/trace.ts';
import { bytesField, fixed64Field, varintField } from '../formats/otlp/proto-writer.ts';
import { readOtlpProto } from '../formats/otlp/read-otlp-proto.ts';

interface Rejected {
  readonly reason: string | undefined;
  readonly detail: string;
}

function outcomesOf(read: ReturnType<typeof traceReader>, message: Buffer) {
  const rejected: Rejected[] = [];
  let spans = 0;
  let children = 0;
  const problem = read(message, {
    span: (_, span) => {
      spans++;
      if (hasParent(span)) children++;
    },
    malformed: (detail, _, reason) => rejected.push({ reason, detail }),
  });
  return { spans, children, rejected, problem };
}

const read = (format: SpanFormat, message: Buffer | string) =>
  outcomesOf(traceReader(format, childrenRules), Buffer.from(message as string));

const ids = [bytesField(1, Buffer.alloc(16, 1)), bytesField(2, Buffer.alloc(8, 2))];
const times = [
  fixed64Field(7, 1_795_609_800_000_000_000n),
  fixed64Field(8, 1_795_609_801_000_000_000n),
];
const plain = [...ids, bytesField(5, 'x'), ...times];
const attributes = (count: number) => {
  const one = bytesField(9, [bytesField(1, 'k'), bytesField(2, bytesField(1, 'v'))]);
  return Buffer.alloc(count * one.length, one);
};
const parent = bytesField(4, Buffer.alloc(8, 3));
const request = (...spans: readonly (readonly Buffer[])[]) =>
  bytesField(1, [
    bytesField(
      2,
      spans.map((span) => bytesField(2, span)),
    ),
  ]);
const ofSpan = {
  reason: 'bad_field',
  detail: 'A span must have at most 20000 attributes and events: it has more',
};

test('a root beyond the limit of parts is rejected on each path; of a child they are not read', () => {
  // Keys that differ, as a second value of one key is for the general reader.
  const many = (count: number) =>
    Buffer.concat(
      Array.from({ length: count }, (_, i) =>
        bytesField(9, [bytesField(1, `k${i}`), bytesField(2, bytesField(1, 'v'))]),
      ),
    );
  const general = keepingReader(readOtlpProto, childrenRules);
  for (const unknown of [[], [varintField(99, 1)]]) {
    const root = (count: number) => request([...plain, ...unknown, many(count)]);
    for (const message of [root(20_000), root(20_001)]) {
      const found = read('otlp_proto', message);
      expect(found).toEqual(outcomesOf(general, message));
      expect(found.rejected).toEqual(message.length > root(20_000).length ? [ofSpan] : []);
    }
  }
  const child = request([...plain, parent, attributes(20_001)]);
  expect(read('otlp_proto', child)).toMatchObject({ spans: 1, children: 1, rejected: [] });
  expect(outcomesOf(traceReader('otlp_proto', tritonRules), child)).toMatchObject({
    spans: 0,
    rejected: [ofSpan],
  });
});

const ofMessage = 'A message must hold at most 100000 spans: it holds more';
const ofInvalid = 'At most 10000 spans of a message must be invalid: more may be';
const zipkin = '{"traceId":"0a","id":"0b"}';

test.each<[SpanFormat, (count: number) => Buffer | string]>([
  ['otlp_proto', (count) => request(...new Array(count).fill(plain))],
  ['zipkin_json', (count) => `[${new Array(count).fill(zipkin)}]`],
])(
  'a message of %s has 100,000 spans at most, and its rest is one rejection',
  (format, messageOf) => {
    expect(read(format, messageOf(100_000))).toMatchObject({ spans: 100_000, rejected: [] });
    const { spans, rejected } = read(format, messageOf(100_003));
    expect(spans).toBe(100_000);
    expect(rejected).toEqual([{ reason: 'too_many_events', detail: ofMessage }]);
  },
);

test.each<[SpanFormat, (count: number) => Buffer | string]>([
  ['otlp_proto', (count) => request(...new Array(count).fill([varintField(5, 1)]))],
  [
    'otlp_json',
    (count) => `{"resourceSpans":[{"scopeSpans":[{"spans":[${new Array(count).fill(1)}]}]}]}`,
  ],
])(
  'the rest of a message of %s is one rejection after 10,000 invalid spans',
  (format, messageOf) => {
    expect(read(format, messageOf(10_000)).rejected).toHaveLength(10_000);
    const { rejected } = read(format, messageOf(10_003));
    expect(rejected).toHaveLength(10_001);
    expect(rejected.at(-1)).toEqual({ reason: 'too_many_events', detail: ofInvalid });
  },
);

test.each<[string, string, Rejected]>([
  [
    'nests 1,001 levels',
    '['.repeat(1_001),
    { reason: 'too_deep', detail: 'The message must nest at most 1000 levels: it nests deeper' },
  ],
  [
    'holds 500,001 objects',
    `[${new Array(5).fill(`[${new Array(99_999).fill('{}')}]`)}]`,
    {
      reason: 'too_many_events',
      detail: 'The message must hold at most 500000 objects and arrays: it holds 500001',
    },
  ],
  [
    'has an object of 200,001 fields',
    `[{${Array.from({ length: 200_001 }, (_, i) => `"${i}":1`)}}]`,
    {
      reason: 'too_many_events',
      detail: 'An object or array of the message must have at most 200000 members: one has more',
    },
  ],
])('a message that %s is not parsed', (_, message, expected) => {
  for (const format of ['otlp_json', 'jaeger_json', 'zipkin_json'] as const) {
    expect(read(format, message)).toMatchObject({
      spans: 0,
      rejected: [expected],
      problem: undefined,
    });
  }
});
