// Covers src/convert/load-tests/back-to-back.ts, src/convert/load-tests/llmperf.ts,
// src/convert/load-tests/sglang-bench.ts and src/convert/required-options.ts.

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

  it('passes on each gap between tokens, whose percentiles are those that SGLang reports', async () => {
    const { events } = await convert(sglangBench, fixture(sglangPath), options);
    const run = JSON.parse(fixtureText(sglangPath)) as Record<string, unknown>;
    const theirs = (run.itls as number[][]).map((gaps) => gaps.map((s) => Math.round(s * 1e9)));
    const ours = events.map(({ itl_ms = [] }) => itl_ms.map((ms) => Math.round(ms * 1e6)));
    expect(ours).toEqual(theirs);
    const gaps = events.flatMap(({ itl_ms = [] }) => itl_ms).toSorted((a, b) => a - b);
    expect(gaps).toHaveLength(145);
    expect(gaps.reduce((sum, ms) => sum + ms, 0) / 145).toBeCloseTo(run.mean_itl_ms as number, 6);
    expect(gaps[72]).toBeCloseTo(run.median_itl_ms as number, 6);
  });

  it('reads an origin again as it was', async () => {
    const { events, origins } = await convert(sglangBench, fixture(sglangPath), options);
    const again = await convert(sglangBench, textFile(origins[0] ?? ''), options);
    expect(again.events).toEqual(events.slice(0, 1));
  });

  it.each([
    [
      '{"mean_ttft_ms":3}',
      /^Run 1: ttfts must be an array, which --output-details of SGLang or --save-detailed of vLLM writes: it is absent$/,
    ],
    ['{"ttfts":[1],"itls":[[],[]]}', /^Run 1: itls must be an array of 1 elements/],
    [
      '{"ttfts":["x"],"itls":[[]],"errors":[""],"input_lens":[1],"output_lens":[1]}',
      /^Run 1, request 1: ttfts must be a number >= 0: it is "x"$/,
    ],
    [
      '{"ttfts":[1],"itls":[["x"]],"errors":[""],"input_lens":[1],"output_lens":[1]}',
      /^Run 1, request 1: itls must be an array of numbers >= 0/,
    ],
  ])('rejects %s', async (line, detail) => {
    const { events, rejects } = await convert(sglangBench, textFile(line), options);
    expect(events).toEqual([]);
    expect(rejects).toHaveLength(1);
    expect(rejects[0]?.detail).toMatch(detail);
  });

  const arrays = {
    input_lens: [9, 9, 9],
    output_lens: [2, 1, 0],
    ttfts: [0.5, 0.25, 0],
    itls: [[0.25], [], []],
    start_times: [7001.5, 7000.5, 7002.5],
    generated_texts: ['a ": NaN,', 'b', ''],
    errors: ['', '', 'Traceback: asyncio.TimeoutError'],
  };
  const vllm = {
    ...{ date: '20260101-101010', endpoint_type: 'vllm', model_id: 'org/model', num_prompts: 3 },
    ...{ request_rate: 'inf', burstiness: 1, max_concurrency: null, duration: 2, completed: 2 },
    ...{ total_input_tokens: 18, total_output_tokens: 3, request_throughput: 1, ...arrays },
    mean_ttft_ms: 375,
  };

  it.each([
    ['on one line', JSON.stringify(vllm)],
    ['over many lines', `\ufeff${JSON.stringify(vllm, null, 2)}`],
  ])("takes vLLM's model and the distances of its starts, %s", async (_, text) => {
    const { events, rejects } = await convert(sglangBench, textFile(text), { startMs: 1000 });
    expect(rejects).toEqual([]);
    const said = { model: 'org/model', input_tokens: 9 };
    expect(events).toEqual([
      {
        ...{ ...said, ts: 2000, status: 'ok', output_tokens: 2 },
        ...{ total_ms: 750, stages_ms: { first_token: 500 }, itl_ms: [250] },
      },
      {
        ...{ ...said, ts: 1000, status: 'ok', output_tokens: 1 },
        ...{ total_ms: 250, stages_ms: { first_token: 250 } },
      },
      { ...said, ts: 3000, status: 'timeout', output_tokens: 0, total_ms: 0, stages_ms: {} },
    ]);
    expect(sglangBench.recognise(text, 'x')).toBe('total_input_tokens and request_throughput');
  });

  it.each([
    ['lines', `${JSON.stringify(vllm)}\n`.repeat(2)],
    ['a list', JSON.stringify([vllm, vllm], null, 4)],
  ])('starts a run at the end of the one before, in %s', async (_, text) => {
    expect(sglangBench.recognise(text, 'a.json')).toBeDefined();
    const { events } = await convert(sglangBench, textFile(text), { model: 'm', startMs: 1000 });
    expect(events.map(({ ts }) => ts)).toEqual([2000, 1000, 3000, 4000, 3000, 5000]);
    expect(events[0]?.model).toBe('m');
  });

  it('reads what Python writes for infinity', async () => {
    const text = `{"request_rate": Infinity, "x": [NaN, -Infinity],${JSON.stringify(arrays).slice(1)}`;
    const { events, rejects } = await convert(sglangBench, textFile(text), options);
    expect([events.length, rejects]).toEqual([3, []]);
  });

  it('needs a model where the run names none', async () => {
    const run = convert(sglangBench, textFile(JSON.stringify(arrays)), { startMs: 1 });
    await expect(run).rejects.toMatchObject({ hint: 'Add --model NAME.' });
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
