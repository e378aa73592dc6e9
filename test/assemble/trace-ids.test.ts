import { describe, expect, test } from 'vitest';
import type { SpanFormat } from '../../src/assemble/event/span-formats.ts';
import { childrenRules } from '../../src/assemble/event/trace-rules.ts';
import { assembleMessages } from './assemble-messages.ts';

const LOW = 'abc0000000000001';
const HIGH = '68c0fa8000000001';

interface Given {
  readonly trace: string;
  readonly id: string;
  readonly parent?: string;
  readonly name: string;
  readonly ms: number;
}

const request = (trace: string, ms: number): Given => ({ trace, id: 'a1', name: 'POST', ms });
const forward = (trace: string, ms: number): Given => {
  return { trace, id: 'b2', parent: 'a1', name: 'forward', ms };
};

const zipkin = ({ trace, id, parent, name, ms }: Given) => ({
  ...{ traceId: trace, id, name, timestamp: 1_790_000_000_000_000, duration: ms * 1000 },
  ...(parent === undefined ? {} : { parentId: parent }),
  localEndpoint: { serviceName: 'rank-api' },
});

const attributes = [{ key: 'service.name', value: { stringValue: 'rank-api' } }];

const otlp = ({ trace, id, parent = '', name, ms }: Given) => ({
  resourceSpans: [
    {
      resource: { attributes },
      scopeSpans: [
        {
          spans: [
            {
              ...{ traceId: trace, spanId: id, parentSpanId: parent, name },
              startTimeUnixNano: '1790000000000000000',
              endTimeUnixNano: String(1_790_000_000_000_000_000n + BigInt(ms) * 1_000_000n),
            },
          ],
        },
      ],
    },
  ],
});

const base64 = (hex: string) => Buffer.from(hex.padStart(16, '0'), 'hex').toString('base64');

const jaeger = ({ trace, id, parent, name, ms }: Given) => ({
  traceId: base64(trace),
  ...{ spanId: base64(id), operationName: name, startTime: '2026-09-21T14:13:20Z' },
  ...{ duration: `${ms / 1000}s`, process: { serviceName: 'rank-api' } },
  references:
    parent === undefined
      ? []
      : [{ traceId: base64(trace), spanId: base64(parent), refType: 'CHILD_OF' }],
});

const written: Partial<Record<SpanFormat, (span: Given) => unknown>> = {
  zipkin_json: (span) => [zipkin(span)],
  otlp_json: otlp,
  jaeger_json: jaeger,
};

/** Events of spans, each in a message of its own: trace id, total and stages. */
function eventsOf(spans: readonly Given[], format: SpanFormat = 'zipkin_json') {
  const messages = spans.map((span) => ({
    value: Buffer.from(JSON.stringify(written[format]?.(span))),
  }));
  const { events, rejected } = assembleMessages(messages, format, childrenRules);
  const found = events.map(({ trace_id: id, total_ms: ms, stages_ms }) => [id, ms, stages_ms]);
  return { found, rejected: rejected.map(({ reason }) => reason) };
}

describe('spans whose trace ids have the same last 16 digits', () => {
  const whole = { found: [[HIGH + LOW, 300, { forward: 200 }]], rejected: [] };

  test.each(['zipkin_json', 'otlp_json', 'jaeger_json'] as const)(
    'are one trace where one id has 16 digits and another 32, whichever comes first: %s',
    (format) => {
      const long = request(HIGH + LOW, 300);
      const short = forward(LOW, 200);
      expect(eventsOf([long, short], format)).toEqual(whole);
      expect(eventsOf([short, long], format)).toEqual(whole);
      expect(eventsOf([request(LOW, 300), forward(HIGH + LOW, 200)], format)).toEqual(whole);
    },
  );

  test('are two traces where both have 32 digits that differ', () => {
    const other = `0000000000000bad${LOW}`;
    const spans = [HIGH + LOW, other].flatMap((id, n) => [
      request(id, 300 + n),
      forward(id, 200 + n),
    ]);
    expect(eventsOf(spans)).toEqual({
      found: [
        [HIGH + LOW, 300, { forward: 200 }],
        [other, 301, { forward: 201 }],
      ],
      rejected: [],
    });
  });

  test('are of the newest of several traces where they have 16 digits', () => {
    const other = `0000000000000bad${LOW}`;
    const spans = [request(HIGH + LOW, 300), request(other, 301), forward(LOW, 200)];
    expect(eventsOf(spans).found).toEqual([
      [HIGH + LOW, 300, {}],
      [other, 301, { forward: 200 }],
    ]);
  });

  test('are two traces where the ids end with 16 zeros and differ', () => {
    const [a, b] = [`${HIGH}0000000000000000`, `${LOW}0000000000000000`];
    const spans = [request(a, 300), request(b, 301), forward(a, 200), forward(b, 201)];
    expect(eventsOf(spans).found).toEqual([
      [a, 300, { forward: 200 }],
      [b, 301, { forward: 201 }],
    ]);
  });
});

test.each([
  ['upper case', LOW.toUpperCase(), LOW],
  ['zeros before them', `0000000000000000${LOW}`, LOW],
  ['the prefix 0x', `0x${LOW}`, LOW],
  ['the prefix 0X and 32 digits', `0X${HIGH}${LOW}`, LOW],
  ['leading zeros left out', 'c1', '00000000000000c1'],
  ['leading zeros left out of 32', `c1${LOW}`, `00000000000000c1${LOW}`],
])('ids with %s are the ids that they stand for', (_what, one, other) => {
  const { found, rejected } = eventsOf([request(one, 300), forward(other, 200)]);
  expect([found.map(([, ...durations]) => durations), rejected]).toEqual([
    [[300, { forward: 200 }]],
    [],
  ]);
});

test('span ids are the same with and without leading zeros, in either case, and by their last 16 digits', () => {
  const child = { ...forward(LOW, 200), id: 'c3' };
  for (const parent of ['00000000000000a1', 'A1', '0xa1', `${HIGH}00000000000000a1`]) {
    expect(eventsOf([request(LOW, 300), { ...child, parent }]).found).toEqual([
      [LOW, 300, { forward: 200 }],
    ]);
  }
});
