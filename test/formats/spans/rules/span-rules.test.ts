import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { readMapping } from '../../../../src/config/read/presets.ts';
import { checkedSpanRules } from '../../../../src/formats/mapping/checked-mapping.ts';
import { OtlpJsonDecoder } from '../../../../src/formats/otlp/otlp-json-decoder.ts';
import { OtlpProtoDecoder } from '../../../../src/formats/otlp/otlp-proto-decoder.ts';
import type { Span } from '../../../../src/formats/span.ts';
import { decodeAll, type Outcome, testOptions } from '../../otlp/outcomes.ts';
import { fixture, messagesOf } from '../../records/decode-records.ts';

const yaml = `
stages:
  queue: [queue]
  parse: [{name: parse, kind: internal}]
  features: [features.get]
  preprocess: [preprocess]
  forward: [{name: forward, kind: client}]
  postprocess: [postprocess]
fields:
  model: [ml.model.name, resource:service.name]
`;
const rulesOf = (text: string) => checkedSpanRules(readMapping(text, 'rules.yaml'), 'rules.yaml');

/** Sums by stage and numbers by what became of the spans. */
function summaryOf(outcomes: readonly Outcome[]) {
  const counts = { stages: 0, totals: 0, skipped: 0 };
  const rejected: Record<string, number> = {};
  const sums: Record<string, number> = {};
  for (const outcome of outcomes) {
    if (outcome === 'skipped') counts.skipped++;
    else if ('reason' in outcome) rejected[outcome.reason] = (rejected[outcome.reason] ?? 0) + 1;
    else {
      const { totalMs, stages } = outcome.event as { totalMs: number; stages: [string, number][] };
      if (stages.length === 0) counts.totals++;
      else counts.stages++;
      for (const [name, ms] of stages) sums[name] = (sums[name] ?? 0) + ms;
      if (!Number.isNaN(totalMs)) sums.total = (sums.total ?? 0) + totalMs;
    }
  }
  const rounded = Object.entries(sums).map(([name, ms]) => [name, Number(ms.toFixed(6))]);
  return { ...counts, rejected, sums: Object.fromEntries(rounded) };
}

describe('spans by rules', () => {
  const options = { ...testOptions([]), rules: rulesOf(yaml) };
  const proto = messagesOf('kafka/otlp_spans.jsonl');
  const json = gunzipSync(fixture('kafka/otlp_spans_json.jsonl.gz'))
    .toString()
    .trim()
    .split('\n')
    .map((line) => Buffer.from((JSON.parse(line) as { value: string }).value));

  it('are partial events: each of a stage, and each root with the total', () => {
    const decoder = new OtlpProtoDecoder(options);
    const found = summaryOf(
      proto.flatMap((message) => decodeAll(decoder, options, message).outcomes),
    );
    // As the data pack says: 327 spans map to a stage, and 62 of 64 roots have a possible total.
    expect(found).toMatchObject({
      ...{ stages: 327, totals: 62, skipped: 106 },
      rejected: { no_end: 1, ends_before_start: 1 },
    });
    const inJson = new OtlpJsonDecoder(options);
    expect(
      summaryOf(json.flatMap((message) => decodeAll(inJson, options, message).outcomes)),
    ).toEqual(found);
  });
});

describe('rules of spans', () => {
  it.each([
    ['stages: {queue: []}', 'stages.queue must not be an empty list'],
    ['stages: {7 up: [a]}', 'stages.7 up must have a name that matches ^[A-Za-z]'],
    ['stages: {total: [a]}', 'stages.total must have a name that matches ^[A-Za-z]'],
    ['stages: {queue: [{kind: srver}]}', 'stages.queue.0.kind must be one of unspecified,'],
    ['stagess: {}', 'stagess is not a key of a mapping here: did you mean stages?'],
    ['stages: {q: [a]}\nfields: {modell: [a]}', 'fields.modell is not a key of a mapping here'],
  ])('%s are refused: %s', (text, problem) => {
    expect(() => rulesOf(text)).toThrow(problem);
  });
});

describe('the stage of a span', () => {
  const rules = rulesOf(`
stages:
  client: [{name: call, kind: client}]
  fast: [{attribute: lane, equals: fast}]
  lane: [{attribute: lane}]
  named: [call]
total: [{kind: server}, root]
`);
  const roleOf = (given: { name?: string; kind?: number; lane?: string }) => {
    const { name = 'x', kind = 1, lane } = given;
    const attributes = new Map(lane === undefined ? [] : [['lane', lane] as const]);
    const role = rules.roleOf({ name, kind, attributes, parentSpanId: 'aa' } as unknown as Span);
    return typeof role === 'object' ? role.stage : role;
  };

  it.each([
    [{ name: 'call', kind: 3 }, 'client'],
    [{ name: 'call', kind: 1 }, 'named'],
    [{ name: 'other', kind: 3 }, undefined],
    [{ lane: 'fast' }, 'fast'],
    [{ lane: 'slow' }, 'lane'],
    [{ name: 'call', kind: 3, lane: 'fast' }, 'client'],
    [{ kind: 2, lane: 'fast' }, 'total'],
    [{ name: 'root' }, 'total'],
    [{}, undefined],
  ])('%j is %s', (span, stage) => {
    expect(roleOf(span)).toBe(stage);
  });
});
