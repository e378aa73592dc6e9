import { expect, it } from 'vitest';
import { otlpJson } from '../../../src/convert/spans/otlp-json.ts';
import { convertFixtures, convertText, expectedEvents, rounded } from '../converted.ts';

it('converts spans of vLLM, SGLang and clients by the GenAI conventions', async () => {
  const path = 'llm-server-spans/vllm-sglang-genai.otlp.jsonl';
  const { events, rejected, skipped } = await convertFixtures(otlpJson, [path]);
  expect(events.map(rounded)).toEqual(expectedEvents('llm-server-spans.ndjson'));
  expect({ rejected, skipped }).toEqual({ rejected: [], skipped: 0 });
});

it.each(['openllmetry', 'openinference'])(
  'converts the innermost calls of %s, the first token from span events',
  async (name) => {
    const found = await convertFixtures(otlpJson, [`${name}/openai-chat.otlp.jsonl`]);
    // The expectation has no ids.
    const events = found.events.map(({ id, ...event }) => rounded(event));
    expect(events).toHaveLength(9);
    expect(events).toEqual(expectedEvents(`${name}.ndjson`));
    expect({ rejected: found.rejected, skipped: found.skipped }).toEqual({
      rejected: [],
      skipped: 8,
    });
  },
);

const startNs = '1790000000000000000';
const latency = { key: 'gen_ai.latency.e2e', value: { doubleValue: 0.5 } };
const request = (span: object) =>
  JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] });

it.each([
  [
    'an end of 0',
    { name: 'a', startTimeUnixNano: startNs, endTimeUnixNano: '0' },
    'no_end: Span "a" must have an end: it is 0',
  ],
  [
    'an end before the start',
    { name: 'a', startTimeUnixNano: startNs, endTimeUnixNano: '1789999999995000000' },
    'ends_before_start: Span "a" must end after its start: it ends 5 ms before',
  ],
])('rejects %s', async (_name, span, reason) => {
  const { events, rejected } = await convertText(
    otlpJson,
    request({ ...span, attributes: [latency] }),
  );
  expect(events).toEqual([]);
  expect(rejected).toEqual([reason]);
});

it('reads ids in capitals, numbers as texts, and leaves ids of zeros out', async () => {
  const span = {
    traceId: 'ABCDEF0123456789ABCDEF0123456789',
    startTimeUnixNano: startNs,
    endTimeUnixNano: '1790000000600000001',
    attributes: [latency, { key: 'gen_ai.response.model', value: { stringValue: 'm' } }],
  };
  const { events } = await convertText(
    otlpJson,
    `${request(span)}\n${request({ ...span, traceId: '0'.repeat(32) })}`,
  );
  expect(events).toEqual([
    {
      ts: 1_790_000_000_000,
      model: 'm',
      trace_id: 'abcdef0123456789abcdef0123456789',
      status: 'ok',
      total_ms: 500,
      stages_ms: {},
    },
    { ts: 1_790_000_000_000, model: 'm', status: 'ok', total_ms: 500, stages_ms: {} },
  ]);
});

it('survives any type anywhere', async () => {
  const odd: readonly unknown[] = [null, 1, 'x', true, [], {}, [null], [[1]], -1, 1e300, '1e9'];
  for (const value of odd) {
    for (const name of [
      'name',
      'traceId',
      'startTimeUnixNano',
      'endTimeUnixNano',
      'attributes',
      'events',
      'status',
    ]) {
      const span = { startTimeUnixNano: startNs, endTimeUnixNano: startNs, attributes: [latency] };
      const { events, rejected, skipped } = await convertText(
        otlpJson,
        request({ ...span, [name]: value }),
        {},
        1_000,
      );
      expect(events.length + rejected.length + skipped).toBe(1);
    }
    await convertText(otlpJson, JSON.stringify({ resourceSpans: value }), {}, 1_000);
    await convertText(
      otlpJson,
      JSON.stringify({ resourceSpans: [{ scopeSpans: value }] }),
      {},
      1_000,
    );
  }
});

it('rejects what is no request, and nesting of any depth, and reads on', async () => {
  const good = request({
    startTimeUnixNano: startNs,
    endTimeUnixNano: startNs,
    attributes: [latency],
  });
  const deep = `{"resourceSpans":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  const { events, rejected } = await convertText(otlpJson, `{"a":1}\n${deep}\n${good}`, {}, 10_000);
  expect(rejected).toEqual([
    'invalid_json: A request of text must be a JSON object with resourceSpans: it is another',
  ]);
  expect(events).toHaveLength(1);
});
