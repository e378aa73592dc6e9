import { describe, expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { aiperf } from '../../src/convert/load-tests/aiperf.ts';
import type { DecoderOptions, EventDecoder } from '../../src/decode/event-decoder.ts';
import { Interner } from '../../src/decode/interner.ts';
import { MessageDecoder } from '../../src/decode/message/message-decoder.ts';
import { OtlpJsonDecoder } from '../../src/formats/otlp/otlp-json-decoder.ts';
import { OtlpProtoDecoder } from '../../src/formats/otlp/otlp-proto-decoder.ts';
import { vllm } from '../../src/formats/spans/presets/vllm.ts';
import { mulberry32, SeededRandom } from '../base/seeded-random.ts';
import { convert, fixture, fixtureText } from '../convert/conversion.ts';
import { protoOf } from '../formats/otlp/oracle.ts';
import { worstError } from '../sketch/worst-error.ts';
import { countedStages } from './counted-stages.ts';
import { TestChunk } from './test-chunk.ts';

const tsMs = 1_790_000_000_000;
const perToken = 'time_per_output_token';
const per1k = 'prefill_per_1k_input_tokens';

interface Request {
  readonly totalMs: number;
  readonly queueMs: number;
  readonly prefillMs: number | undefined;
  readonly firstTokenMs: number | undefined;
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
}

/** Requests of which some lack a number, or have one from which nothing can be derived. */
function someRequests(count: number, seed: number): Request[] {
  const random = new SeededRandom(seed, mulberry32);
  const some = <T>(value: T) => (random.unit() < 0.05 ? undefined : value);
  return Array.from({ length: count }, () => {
    const outputTokens = random.unit() < 0.1 ? random.between(0, 2) : random.between(2, 900);
    const inputTokens = random.unit() < 0.05 ? 999 : random.between(1, 8_000);
    const queueMs = Math.round(50 * random.unit());
    const prefillMs = Math.round(20 + inputTokens * 0.1 * Math.exp(0.4 * random.normal()));
    const firstTokenMs = queueMs + prefillMs;
    // A clock that is behind: the first token after the end.
    const decodeMs =
      random.unit() < 0.02 ? -5 : outputTokens * 11 * Math.exp(0.3 * random.normal());
    return {
      totalMs: Math.max(0, Math.round(firstTokenMs + decodeMs)),
      queueMs,
      prefillMs: some(prefillMs),
      firstTokenMs: some(firstTokenMs),
      inputTokens: some(inputTokens),
      outputTokens: some(outputTokens),
    };
  });
}

/** The measures of these requests by their definition. */
function expectedOf(requests: readonly Request[]): Map<string, number[]> {
  const tokenMs = requests.flatMap(({ totalMs, firstTokenMs, outputTokens }) => {
    if (firstTokenMs === undefined || outputTokens === undefined || outputTokens < 2) return [];
    const ms = (totalMs - firstTokenMs) / (outputTokens - 1);
    return ms >= 0 ? [ms] : [];
  });
  const per1kMs = requests.flatMap(({ prefillMs, inputTokens }) =>
    prefillMs === undefined || inputTokens === undefined || inputTokens < 1_000
      ? []
      : [(prefillMs * 1000) / inputTokens],
  );
  return new Map([
    [perToken, tokenMs],
    [per1k, per1kMs],
  ]);
}

function jsonOf(request: Request, milestone = 'first_token') {
  const { totalMs, queueMs, prefillMs, firstTokenMs, inputTokens, outputTokens } = request;
  return JSON.stringify({
    ts: tsMs - totalMs,
    model: 'llm',
    total_ms: totalMs,
    stages_ms: { queue: queueMs, prefill: prefillMs, [milestone]: firstTokenMs },
    input_tokens: inputTokens,
    output_tokens: outputTokens,
  });
}

/** Spans as a vLLM server writes them. */
function spansOf(requests: readonly Request[]): string {
  const spans = requests.map((request) => {
    const { totalMs, queueMs, prefillMs, firstTokenMs, inputTokens, outputTokens } = request;
    const attributes = Object.entries({
      'gen_ai.latency.e2e': totalMs / 1000,
      'gen_ai.latency.time_in_queue': queueMs / 1000,
      'gen_ai.latency.time_in_model_prefill': prefillMs && prefillMs / 1000,
      'gen_ai.latency.time_to_first_token': firstTokenMs && firstTokenMs / 1000,
      'gen_ai.usage.prompt_tokens': inputTokens,
      'gen_ai.usage.completion_tokens': outputTokens,
    }).flatMap(([key, doubleValue]) =>
      doubleValue === undefined ? [] : [{ key, value: { doubleValue } }],
    );
    const endMs = BigInt(tsMs);
    return {
      name: 'llm_request',
      startTimeUnixNano: String((endMs - BigInt(totalMs)) * 1_000_000n),
      endTimeUnixNano: String(endMs * 1_000_000n),
      attributes: [...attributes, { key: 'gen_ai.response.model', value: { stringValue: 'llm' } }],
    };
  });
  return JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
}

/** What a chunk holds of each stage of these messages, by its name. */
function countedBy(open: (options: DecoderOptions) => EventDecoder, messages: readonly Buffer[]) {
  const { chunk, decoder, rows } = countedStages(open, messages, tsMs + 1);
  const byStage = rows.map(({ stage, requests, failed, sumUs, digest }) => {
    return [stage, { requests, failed, sumMs: sumUs / 1000, digest }] as const;
  });
  const { exemplars, stages } = chunk;
  return { decoder, exemplars: [...exemplars.all()], stages, rows: new Map(byStage) };
}

const json = (options: DecoderOptions) => new MessageDecoder(options);
const lines = (texts: readonly string[]) => [Buffer.from(texts.join('\n'))];

const requests = someRequests(4_000, 7);

describe.each<[string, (options: DecoderOptions) => EventDecoder, () => Buffer[]]>([
  ['JSON by the kernel', json, () => lines(requests.map((one) => jsonOf(one)))],
  [
    'JSON by the scanner',
    (options) => new MessageDecoder({ ...options, kernel: null }),
    () => lines(requests.map((one) => jsonOf(one, 'ttft'))),
  ],
  [
    'JSON by the contract',
    json,
    () => lines(requests.map((one) => jsonOf(one).replace('"llm"', '"\\u006clm"'))),
  ],
  [
    'spans in JSON',
    (options) => new OtlpJsonDecoder({ ...options, presets: [vllm] }),
    () => [Buffer.from(spansOf(requests))],
  ],
  [
    'spans in protobuf',
    (options) => new OtlpProtoDecoder({ ...options, presets: [vllm] }),
    () => [protoOf(spansOf(requests))],
  ],
])('measures of requests read as %s', (name, open, messages) => {
  const { rows, decoder } = countedBy(open, messages());

  it('equal their definition on the raw requests, within the bound of the sketch', () => {
    for (const [stage, values] of expectedOf(requests)) {
      const row = rows.get(stage);
      expect(row?.requests).toBe(values.length);
      const sumMs = values.reduce((sum, ms) => sum + ms, 0);
      // A duration is rounded to the microsecond in the sum.
      expect(Math.abs((row?.sumMs ?? 0) - sumMs)).toBeLessThan(values.length * 0.0006);
      const sorted = Float64Array.from(values).sort();
      expect(worstError(sorted, (q) => row?.digest.quantile(q) ?? 0).score).toBeLessThan(1);
    }
  });

  it('are read by the way that is meant', () => {
    if (!(decoder instanceof MessageDecoder)) return;
    expect(decoder.kernelCount > 1_000).toBe(name === 'JSON by the kernel');
    expect(decoder.fallbackCount === requests.length).toBe(name === 'JSON by the contract');
  });
});

const event = { ts: tsMs - 1_000, model: 'llm', total_ms: 1_000, input_tokens: 1_500 };
const countedOf = (...events: readonly object[]) =>
  countedBy(json, lines(events.map((each) => JSON.stringify({ ...event, ...each }))));

describe('an event', () => {
  it('that has a measure itself keeps its own value, once', () => {
    const own = { first_token: 400, prefill: 300, [perToken]: 7, [per1k]: 11 };
    const { rows } = countedOf({ output_tokens: 101, stages_ms: own });
    expect(rows.get(perToken)).toMatchObject({ requests: 1, sumMs: 7 });
    expect(rows.get(per1k)).toMatchObject({ requests: 1, sumMs: 11 });
  });

  it('without a total has no total of a measure, and no time per output token', () => {
    const stages_ms = { prefill: 300, first_token: 400, [perToken]: 7 };
    const { rows } = countedOf(
      { total_ms: undefined, stages_ms, output_tokens: 11 },
      { total_ms: undefined, stages_ms: { first_token: 400 }, output_tokens: 11 },
    );
    expect(rows.get('total')).toMatchObject({ requests: 1, sumMs: 300 });
    expect(rows.get(perToken)).toMatchObject({ requests: 1, sumMs: 7 });
    expect(rows.get(per1k)).toMatchObject({ requests: 1, sumMs: 200 });
  });

  it('that failed is a failure of its measures, and one of many counts as many', () => {
    const stages_ms = { first_token: 400 };
    const { rows } = countedOf({ stages_ms, output_tokens: 61, status: 'error', weight: 10 });
    expect(rows.get(perToken)).toMatchObject({ requests: 10, sumMs: 100, failed: 10 });
  });

  it('among the slowest is kept with its measures and its tokens', () => {
    const { exemplars, stages } = countedOf({ stages_ms: { prefill: 300 } });
    const names = exemplars[0]?.stageIds.map((id) => stages.text(id));
    expect(names).toEqual(['prefill', per1k, 'size: input_tokens']);
    expect(exemplars[0]?.stageMs).toEqual([300, 200, 1_500]);
  });

  it('with as many stages as there may be has its measures beside them', () => {
    const many = Array.from({ length: limits.stagesPerEvent - 2 }, (_, n) => [`s${n}`, 1]);
    const stages_ms = { ...Object.fromEntries(many), prefill: 300, first_token: 400 };
    const { rows } = countedOf({ stages_ms, output_tokens: 61 });
    expect(rows.get(perToken)).toMatchObject({ requests: 1, sumMs: 10 });
    expect(rows.get(per1k)).toMatchObject({ requests: 1, sumMs: 200 });
    expect(rows.get('s0')).toMatchObject({ requests: 1, sumMs: 1 });
  });

  it('whose measure would be one name too many has none: `__other__` is a stage', () => {
    const names = Array.from({ length: limits.stageNames }, (_, n) => `s${n}`);
    const floods = Array.from({ length: 8 }, (_, i) => ({
      input_tokens: undefined,
      stages_ms: Object.fromEntries(names.slice(i * 40, i * 40 + 40).map((name) => [name, 1])),
    }));
    const first = { stages_ms: { prefill: 1 }, input_tokens: undefined };
    const last = (input_tokens?: number) => ({ stages_ms: { prefill: 300 }, input_tokens });
    const others = (chunk: ReturnType<typeof countedOf>) =>
      chunk.rows.get(chunk.stages.text(Interner.otherId))?.requests;
    const flooded = countedOf(first, ...floods, last(1_500));
    expect(flooded.stages.size).toBe(limits.stageNames);
    expect(flooded.rows.get('prefill')?.requests).toBe(2);
    expect(flooded.rows.has(per1k)).toBe(false);
    expect(others(flooded)).toBe(others(countedOf(first, ...floods, last())));
  });
});

it('a chunk that follows another counts by its own names', () => {
  const chunk = new TestChunk();
  const at = { ts: tsMs - 1_000, model: 'llm', total_ms: 900, input_tokens: 2_000 };
  const stagesOf = () =>
    [...chunk.rows()].map(([key, { sumUs }]) => [key.split('|').at(-1), sumUs]);
  chunk.begin().add({ ...at, stages_ms: { prefill: 300 } });
  expect(stagesOf()).toContainEqual([per1k, 150_000]);
  chunk.begin().add({ ...at, stages_ms: { a: 1, b: 2, c: 3, prefill: 500 } });
  expect(stagesOf().sort()).toEqual([
    ...[
      ['a', 1_000],
      ['b', 2_000],
      ['c', 3_000],
      ['prefill', 500_000],
    ],
    [per1k, 250_000],
    ['total', 900_000],
  ]);
});

it('time per output token is what AIPerf calls inter-token latency', async () => {
  const text = fixtureText('aiperf/profile_export.jsonl');
  const theirs = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ metadata }) => metadata.benchmark_phase === 'profiling')
    .flatMap(({ metrics }) => metrics.inter_token_latency?.value ?? []);
  const { events } = await convert(aiperf, fixture('aiperf/profile_export.jsonl'), { model: 'm' });
  const near = events.map((each) => JSON.stringify({ ...each, ts: tsMs - 100_000 }));
  const row = countedBy(json, lines(near)).rows.get(perToken);
  expect(theirs.length).toBeGreaterThan(20);
  expect(row?.requests).toBe(theirs.length);
  expect(row?.sumMs).toBeCloseTo(
    theirs.reduce((sum, ms) => sum + ms, 0),
    1,
  );
});
