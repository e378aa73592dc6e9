import { describe, expect, it } from 'vitest';
import { OperatorError } from '../../../src/base/operator-error.ts';
import { llmperf } from '../../../src/convert/load-tests/llmperf.ts';
import { sglangBench } from '../../../src/convert/load-tests/sglang-bench.ts';
import type { EventDraft } from '../../../src/formats/format-reader.ts';
import { convert, fixture, fixtureText, textFile } from '../conversion.ts';

const options = { model: 'llm', startMs: 1_795_626_000_000 };
const sglangPath = 'llm-bench/sglang-0.5.23-bench-serving.jsonl';
const sumOf = (events: readonly EventDraft[]) =>
  events.reduce((sum, { total_ms }) => sum + (total_ms ?? 0), 0);
const countOf = (events: readonly EventDraft[], status: string) =>
  events.filter((event) => event.status === status).length;

/** Checks that each request starts at the end of the one before, to the millisecond. */
function expectBackToBack(events: readonly EventDraft[]) {
  let nextMs = options.startMs;
  for (const { ts, total_ms } of events) {
    expect(ts).toBe(Math.floor(nextMs));
    nextMs += total_ms ?? 0;
  }
}

describe('sglang_bench', () => {
  it('gives 29 totals and one failure, one after another', async () => {
    const { events, rejects } = await convert(sglangBench, fixture(sglangPath), options);
    expect(rejects).toEqual([]);
    expect([countOf(events, 'ok'), countOf(events, 'error')]).toEqual([29, 1]);
    expect(sumOf(events)).toBeCloseTo(1881.495697, 6);
    expectBackToBack(events);
  });

  it('gives each request as its arrays have it', async () => {
    const { events } = await convert(sglangBench, fixture(sglangPath), options);
    const run = JSON.parse(fixtureText(sglangPath)) as Record<string, (number & number[])[]>;
    events.forEach((event, i) => {
      const firstMs = (run.ttfts?.[i] ?? 0) * 1e3;
      const gaps: number[] = run.itls?.[i] ?? [];
      expect(event.total_ms).toBeCloseTo(
        firstMs + gaps.reduce((sum, gap) => sum + gap * 1e3, 0),
        6,
      );
      expect(event.input_tokens).toBe(run.input_lens?.[i]);
      expect(event.output_tokens).toBe(run.output_lens?.[i]);
      if (event.status === 'ok') expect(event.stages_ms?.first_token).toBeCloseTo(firstMs, 6);
      else expect(event.stages_ms).toEqual({});
    });
  });

  it('reads an origin again as it was', async () => {
    const { events, origins } = await convert(sglangBench, fixture(sglangPath), options);
    const again = await convert(sglangBench, textFile(origins[0] ?? ''), options);
    expect(again.events).toEqual(events.slice(0, 1));
  });

  it.each([
    ['{"mean_ttft_ms":3}', /--output-details writes: it is absent$/],
    ['{"ttfts":[1],"itls":[[],[]]}', /^Line 1: itls must be an array of 1 elements/],
    [
      '{"ttfts":["x"],"itls":[[]],"errors":[""],"input_lens":[1],"output_lens":[1]}',
      /^Line 1, request 1: ttfts must be a number >= 0: it is "x"$/,
    ],
    [
      '{"ttfts":[1],"itls":[["x"]],"errors":[""],"input_lens":[1],"output_lens":[1]}',
      /^Line 1, request 1: itls must be an array of numbers >= 0/,
    ],
  ])('rejects %s', async (line, detail) => {
    const { events, rejects } = await convert(sglangBench, textFile(line), options);
    expect(events).toEqual([]);
    expect(rejects).toHaveLength(1);
    expect(rejects[0]?.detail).toMatch(detail);
  });
});

describe('llmperf', () => {
  it.each([
    ['anyscale_7b', 442_090.540466, 150, 0],
    ['bedrock_70b', 886_796.506681, 101, 49],
  ])('gives each of 150 requests of %s, one after another', async (name, sum, ok, error) => {
    const path = `llmperf/${name}_individual_responses.json.gz`;
    const { events, rejects } = await convert(llmperf, fixture(path), options);
    expect(rejects).toEqual([]);
    expect([countOf(events, 'ok'), countOf(events, 'error')]).toEqual([ok, error]);
    expect(sumOf(events)).toBeCloseTo(sum, 5);
    expectBackToBack(events);
    const responses = JSON.parse(fixtureText(path)) as Record<string, number>[];
    events.forEach((event, i) => {
      const response = responses[i] ?? {};
      expect(event.total_ms).toBeCloseTo((response.end_to_end_latency_s ?? 0) * 1e3, 6);
      expect(event.stages_ms?.first_token).toBeCloseTo((response.ttft_s ?? 0) * 1e3, 6);
      expect(event.input_tokens).toBe(response.number_input_tokens);
      expect(event.output_tokens).toBe(response.number_output_tokens);
    });
  });

  it('reads elements over the ends of chunks, with brackets and quotes in texts', async () => {
    const text =
      '\ufeff[\r\n{"end_to_end_latency_s":1.5,"GEN_TEXT":"]}\\"{["},{"end_to_end_latency_s":2}]';
    for (const chunkBytes of [1, 2, 3, 1000]) {
      const { events, rejects } = await convert(llmperf, textFile(text, chunkBytes), options);
      expect(rejects).toEqual([]);
      expect(events.map(({ total_ms }) => total_ms)).toEqual([1500, 2000]);
    }
  });

  it('rejects a truncated element, one that is too long and one without a latency', async () => {
    const long = `{"end_to_end_latency_s":1,"GEN_TEXT":"${'x'.repeat(2 ** 20)}"}`;
    const text = `[${long},{"ttft_s":1},{"end_to_end_latency_s":1},{"end_to`;
    const { events, rejects } = await convert(llmperf, textFile(text, 4096), options);
    expect(events).toHaveLength(1);
    expect(rejects.map(({ detail }) => detail)).toEqual([
      'Response 1 must be complete and at most 1 MiB long: it is not',
      'Response 2: end_to_end_latency_s must be a number >= 0: it is absent',
      'Response 4 must be complete and at most 1 MiB long: it is not',
    ]);
  });
});

describe('both', () => {
  it.each([
    [sglangBench, { startMs: 1 }, '--model'],
    [sglangBench, { model: 'm' }, '--start'],
    [llmperf, { startMs: 1 }, '--model'],
    [llmperf, { model: 'm' }, '--start'],
  ])('need a model and a start ($name)', async (format, given, flag) => {
    const error = await convert(format, textFile(''), given).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(OperatorError);
    expect((error as OperatorError).hint).toContain(flag);
  });

  it('are recognised by their fields', () => {
    const head = (path: string) => fixtureText(path).slice(0, 65_536);
    expect(sglangBench.recognise(head(sglangPath), 'x')).toBeDefined();
    const path = 'llmperf/anyscale_7b_individual_responses.json.gz';
    expect(llmperf.recognise(head(path), 'x')).toBeDefined();
    expect([llmperf.recognise('{}', 'x'), sglangBench.recognise('{}', 'x')]).toEqual([
      undefined,
      undefined,
    ]);
  });
});
