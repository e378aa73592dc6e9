import { describe, expect, test } from 'vitest';
import type { MessageReader, SpanFormat } from '../../src/assemble/event/span-formats.ts';
import { childrenRules, tritonRules } from '../../src/assemble/event/trace-rules.ts';
import type { EventDraft } from '../../src/formats/format-reader.ts';
import { readJaegerUiJson } from '../../src/formats/spans/jaeger-ui-json.ts';
import { fixtureBytes, fixtureText } from '../convert/conversion.ts';
import {
  type Assembled,
  assembleMessages,
  pipelineRules,
  recordedMessages,
} from './assemble-messages.ts';

const expected = (name: string): EventDraft[] =>
  fixtureText(`expected/${name}.ndjson`)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

const byTrace = (events: readonly EventDraft[]) =>
  [...events].sort((a, b) => String(a.trace_id).localeCompare(String(b.trace_id)));

/** Compares durations to a tolerance, all else exactly. */
function expectEvents(
  found: readonly EventDraft[],
  wanted: readonly EventDraft[],
  toleranceMs = 1e-6,
): void {
  const [left, right] = [byTrace(found), byTrace(wanted)];
  const apart = ({ total_ms, stages_ms, ts, ...event }: EventDraft) => event;
  expect(left.map(apart)).toEqual(right.map(apart));
  left.forEach((event, i) => {
    const other = right[i] as EventDraft;
    const stages = event.stages_ms ?? {};
    const otherStages = other.stages_ms ?? {};
    expect(Object.keys(stages).sort()).toEqual(Object.keys(otherStages).sort());
    const off = (a: number | undefined, b: number | undefined) => Math.abs((a ?? 0) - (b ?? 0));
    expect(off(event.total_ms, other.total_ms)).toBeLessThanOrEqual(toleranceMs);
    expect(off(Number(event.ts), Number(other.ts))).toBeLessThanOrEqual(toleranceMs > 1e-5 ? 1 : 0);
    for (const [stage, ms] of Object.entries(otherStages)) {
      expect(off(stages[stage], ms)).toBeLessThanOrEqual(toleranceMs);
    }
  });
}

/** The choices of the expectation that are settings here: the fallback of the model, the weight. */
const pipeline = expected('pipeline-traces').map(({ weight_by_tracestate: weight, ...event }) => ({
  ...event,
  model: event.model === '(missing)' ? 'rank-api' : event.model,
  ...(weight === undefined ? {} : { weight: 10 }),
}));

const reasons = ({ rejected }: Assembled) => rejected.map(({ reason }) => reason).sort();

describe('the traces of the sample pipeline', () => {
  const files: readonly (readonly [string, SpanFormat, number])[] = [
    ['otlp_spans.jsonl', 'otlp_proto', 1e-6],
    ['otlp_spans_keyed.jsonl', 'otlp_proto', 1e-6],
    ['otlp_spans_json.jsonl.gz', 'otlp_json', 1e-6],
    ['jaeger_spans.jsonl.gz', 'jaeger_proto', 1e-6],
    ['jaeger_spans_json.jsonl.gz', 'jaeger_json', 1e-6],
    ['zipkin_spans_json.jsonl.gz', 'zipkin_json', 0.0021],
  ];
  test.each(files)('of %s are the expected events', (file, format, toleranceMs) => {
    const found = assembleMessages(recordedMessages(`kafka/${file}`), format);
    const isZipkin = format === 'zipkin_json';
    expectEvents(found.events, pipeline, toleranceMs);
    expect(found.duplicates).toBe(isZipkin ? found.duplicates : 9);
    if (format.startsWith('otlp')) {
      expect(reasons(found)).toEqual(['ends_before_start', 'no_end', 'no_root']);
    } else if (!isZipkin) {
      expect(reasons(found)).toEqual(['ends_before_start', 'ends_before_start', 'no_root']);
    } else expect(reasons(found)).toEqual(['no_end', 'no_root']);
    expect(found.late).toBe(0);
  });

  test('have the sums that the expectation states', () => {
    const { events } = assembleMessages(
      recordedMessages('kafka/otlp_spans_keyed.jsonl'),
      'otlp_proto',
    );
    const sumOf = (of: (event: EventDraft) => number | undefined) =>
      events.reduce((sum, event) => sum + (of(event) ?? 0), 0);
    expect(sumOf((event) => event.total_ms)).toBeCloseTo(4959.094816, 5);
    expect(sumOf((event) => event.stages_ms?.features)).toBeCloseTo(615.469329, 5);
    expect(sumOf((event) => event.stages_ms?.forward)).toBeCloseTo(2870.481778, 5);
  });
});

const file = (path: string) => [{ value: fixtureBytes(path) }];
const lines = (path: string) =>
  fixtureText(path)
    .trim()
    .split('\n')
    .map((line) => ({ value: Buffer.from(line) }));
const zipkinRules = {
  ...childrenRules,
  fields: { ...childrenRules.fields, request_type: ['span:name'] },
};

describe('traces of other software', () => {
  test.each(['ascend', 'yelp', 'skew'])('of Zipkin: %s', (name) => {
    const found = assembleMessages(file(`zipkin-json/${name}.json`), 'zipkin_json', zipkinRules);
    expectEvents(found.events, expected(`zipkin-${name}`));
    expect(found.rejected).toEqual([]);
  });

  test.each(['messaging-kafka', 'messaging2', 'envoy'])('of Zipkin: %s is one event', (name) => {
    const found = assembleMessages(file(`zipkin-json/${name}.json`), 'zipkin_json');
    expect(found.events).toHaveLength(1);
    expect(found.rejected).toEqual([]);
  });

  test("of Triton have stages by their spans' events", () => {
    const found = assembleMessages(
      lines('otlp-json/triton-2.51-opentelemetry-mode.jsonl.gz'),
      'otlp_json',
      tritonRules,
    );
    expectEvents(found.events, expected('triton-opentelemetry-mode'));
    expect(found.rejected).toEqual([]);
  });

  test('of Triton stand for what its trace rate says', () => {
    const { events } = assembleMessages(
      lines('otlp-json/triton-2.51-opentelemetry-mode.jsonl.gz'),
      'otlp_json',
      { ...tritonRules, weight: 1_000 },
    );
    expect(events.map(({ weight }) => weight)).toEqual(Array(40).fill(1_000));
  });

  test('stand for what their trace state says, and only else for what the rules say', () => {
    const { events } = assembleMessages(
      recordedMessages('kafka/otlp_spans_keyed.jsonl'),
      'otlp_proto',
      { ...pipelineRules, weight: 3 },
    );
    const weights = events.map(({ weight }) => weight);
    expect(weights.filter((weight) => weight === 10)).toHaveLength(10);
    expect(weights.filter((weight) => weight === 3)).toHaveLength(51);
  });

  test('of the OpenTelemetry SDK for JavaScript: the root comes last', () => {
    const { events } = assembleMessages(
      lines('otlp-json/otel-js-sdk-child-before-parent.jsonl'),
      'otlp_json',
      { ...childrenRules, stageOf: new Map([['ohboy.do', 'ohboy.do']]) },
    );
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({
      total_ms: 176.321958,
      stages_ms: { info: 173.150875, 'ohboy.do': 117.815875 },
    });
  });

  test("of Jaeger's storage tests have five roots, and so no event", () => {
    const found = assembleMessages(
      file('otlp-json/jaeger-integration-example-trace.json'),
      'otlp_json',
    );
    expect(found.events).toEqual([]);
    expect(found.rejected).toMatchObject([{ reason: 'several_roots' }]);
    expect(found.rejected[0]?.detail).toContain('has 5');
  });

  test("of the standard's example begin with a server's span whose parent is elsewhere", () => {
    const found = assembleMessages(file('otlp-json/opentelemetry-proto-example.json'), 'otlp_json');
    expect(reasons(found)).toEqual([]);
    expect(found.events).toMatchObject([{ service: 'my.service', total_ms: 1000, stages_ms: {} }]);
  });

  test("of Jaeger's user interface", () => {
    const read: MessageReader = (message, sink) => readJaegerUiJson(message.toString(), sink);
    const found = assembleMessages(
      file('jaeger-ui-json/pyroscope-ride-sharing.json'),
      read,
      childrenRules,
    );
    expect(found.events).toMatchObject([{ total_ms: 1181.596 }]);
  });

  test("of Jaeger's model in its older writing are read", () => {
    const { spans } = JSON.parse(fixtureText('jaeger-model-json/domain_03.json'));
    const messages = spans.map((span: unknown) => ({ value: Buffer.from(JSON.stringify(span)) }));
    const { events } = assembleMessages(messages, 'jaeger_json');
    const [event] = events;
    expect(event).toMatchObject({ ts: 1485467191639, total_ms: 22.938, service: 'api' });
  });
});
