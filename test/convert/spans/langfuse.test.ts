import { describe, expect, it } from 'vitest';
import { langfuse } from '../../../src/convert/spans/langfuse.ts';
import { convert, expectedEvents, fixture, textFile } from '../conversion.ts';

const sumOf = (events: readonly { readonly total_ms?: number | undefined }[]) =>
  events.reduce((sum, { total_ms = 0 }) => sum + total_ms, 0);

/** An observation of Langfuse, with what matters here. */
const observation = (id: string, parent: string | null, more: object = {}) => ({
  ...{ id, traceId: 't', parentObservationId: parent, type: 'GENERATION', level: 'DEFAULT' },
  ...{ startTime: '2026-11-25T12:00:00.100Z', endTime: '2026-11-25T12:00:01.350Z' },
  ...{ model: 'm', latency: 9, ...more },
});
const traceOf = (...observations: object[]) =>
  JSON.stringify({ trace: { id: 't', projectId: 'p' }, observations });

describe('traces of Langfuse', () => {
  it.each([
    ['langgraph-python-2025-08-22', '.trace.json', 2_591, 7],
    ['openai-agents-2025-09-30', '.json', 2_186, 3],
    ['pydantic-ai-tools-2025-12-04', '.json', 7_402, 8],
    ['vercel-aisdk-2025-11-17', '.trace.json', 3_043, 2],
  ])('%s: every event of a real file', async (name, end, totalMs, skipped) => {
    const result = await convert(langfuse, fixture(`langfuse/${name}${end}`));
    const inOrder = [...result.events].sort((a, b) => Number(a.ts) - Number(b.ts));
    expect(inOrder).toEqual(expectedEvents(`langfuse-${name}`));
    expect(sumOf(result.events)).toBe(totalMs);
    expect([result.skipped, result.rejects]).toEqual([skipped, []]);
  });

  it('give an event for each innermost generation, however deep, with what it streamed', async () => {
    const text = traceOf(
      observation('outer', null),
      observation('between', 'outer', { type: 'SPAN' }),
      observation('inner', 'between', { completionStartTime: '2026-11-25T12:00:00.350Z' }),
      observation('beside', 'gone', { level: 'ERROR', usageDetails: {}, inputUsage: 3 }),
      observation('own', 'own', { model: null }),
    );
    const { events, origins, skipped, rejects } = await convert(
      langfuse,
      textFile(`${text}\n${traceOf()}`),
      { model: 'given' },
    );
    const common = { ts: 1795608000100, model: 'm', trace_id: 't', status: 'ok', total_ms: 1_250 };
    expect(events).toEqual([
      { ...common, id: 'inner', stages_ms: { first_token: 250 } },
      { ...common, id: 'beside', status: 'error', input_tokens: 3 },
      { ...common, id: 'own', model: 'given' },
    ]);
    expect([skipped, rejects]).toEqual([2, []]);
    expect(JSON.parse(origins[0] as string).observations[0].id).toBe('inner');
  });

  it('are read as the API gives them, with the names of tokens that it had', async () => {
    const more = { usage: { input: 10, output: 5, unit: 'TOKENS' }, promptTokens: 9 };
    const text = JSON.stringify({
      ...{ id: 't', projectId: 'p', latency: 1.25 },
      observations: [
        observation('a', null, more),
        observation('b', null, { promptTokens: 7, completionTokens: 8 }),
      ],
    });
    expect(langfuse.recognise(text, 'a.json')).toBe('it has a trace with projectId');
    const { events } = await convert(langfuse, textFile(text));
    expect(events).toMatchObject([
      { id: 'a', input_tokens: 10, output_tokens: 5 },
      { id: 'b', input_tokens: 7, output_tokens: 8 },
    ]);
  });

  it('are rejected in part or whole, and read on', async () => {
    const texts = [
      traceOf(
        observation('open', null, { endTime: null }),
        observation('unnamed', null, { model: null }),
      ),
      '{"trace":{},"observations":{}}',
      '[]',
      traceOf(observation('good', null)),
      '{"trace":',
    ];
    const { events, rejects } = await convert(langfuse, textFile(texts.join('\n')));
    expect(events.map(({ id }) => id)).toEqual(['open', 'good']);
    expect(events[0]).not.toHaveProperty('total_ms');
    expect(rejects.map(({ reason, detail }) => `${reason}: ${detail}`)).toEqual([
      'missing_model: the model must be at "model": nothing is there',
      'invalid_line: A trace must have a list of observations, and has none.',
      'invalid_line: The text must be complete JSON, and is not.',
      'invalid_line: The text must be complete JSON, and is not.',
    ]);
  });
});
