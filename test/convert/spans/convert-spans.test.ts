import { expect, test } from 'vitest';
import { jaegerUi, otlpJson, vercelAi } from '../../../src/convert/spans/span-formats.ts';
import { convert, textFile } from '../conversion.ts';

const START_S = 1_700_000_000;
const chat = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'small-1' };
const tags = Object.entries(chat).map(([key, value]) => ({ key, value }));
const traceId = 'c'.repeat(32);
const hex = (id: number) => id.toString(16).padStart(16, '0');

/** A line of OTLP JSON with a call that took as many milliseconds as its id. */
function line(id: number, parent?: number, attributes = tags): string {
  const end = BigInt(START_S) * 1_000_000_000n + BigInt(id) * 1_000_000n;
  const span = {
    ...{ traceId, spanId: hex(id), name: 'chat', startTimeUnixNano: `${START_S}000000000` },
    ...(parent === undefined ? {} : { parentSpanId: hex(parent) }),
    endTimeUnixNano: String(end),
    attributes: attributes.map(({ key, value }) => ({ key, value: { stringValue: value } })),
  };
  return JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] });
}

const totals = async (format: typeof otlpJson, text: string) => {
  const { events, rejects } = await convert(format, textFile(text));
  expect(rejects).toEqual([]);
  return events.map(({ total_ms }) => total_ms);
};

test('the innermost call of a file counts, whichever lines its spans are in', async () => {
  expect(await totals(otlpJson, [line(1), line(2, 1), line(3)].join('\n'))).toEqual([2, 3]);
  expect(await totals(otlpJson, [line(3), line(2, 1), line(1)].join('\n'))).toEqual([3, 2]);
});

test('an outer span is known among all that are held at a time', async () => {
  const many = Array.from({ length: 19_990 }, (_, n) => line(100_000 + n, undefined, []));
  const found = await totals(otlpJson, [line(1), ...many, line(2, 1), ...many, line(3)].join('\n'));
  expect(found).toEqual([2, 3]);
});

test("of Jaeger's user interface too", async () => {
  const span = (id: number, parent?: number) => ({
    ...{ traceID: 'a1', spanID: hex(id), operationName: 'chat', startTime: START_S * 1e6 },
    ...{ duration: id * 1000, tags, processID: 'p1' },
    references:
      parent === undefined ? [] : [{ refType: 'CHILD_OF', traceID: 'a1', spanID: hex(parent) }],
  });
  const processes = { p1: { serviceName: 's', tags: [] } };
  const file = { data: [{ traceID: 'a1', spans: [span(1), span(2, 1), span(3)], processes }] };
  expect(await totals(jaegerUi, JSON.stringify(file))).toEqual([2, 3]);
});

test('and of the Vercel AI SDK, whose embeddings inside of a generation count beside it', async () => {
  const span = (id: number, operationId: string, parentSpanId?: string) => ({
    spanContext: { traceId, spanId: hex(id) },
    ...{ parentSpanId, name: operationId, kind: 0, startTime: [START_S, 0] },
    ...{ endTime: [START_S, id * 1_000_000], status: { code: 0 }, events: [] },
    attributes: { 'ai.operationId': operationId, 'ai.model.id': 'small-1' },
    resource: { attributes: {} },
  });
  const spans = [
    span(1, 'ai.generateText'),
    span(2, 'ai.generateText.doGenerate', hex(1)),
    span(3, 'ai.embed.doEmbed', hex(2)),
    span(4, 'ai.generateText.doGenerate', hex(1)),
    span(5, 'ai.streamText.doStream', hex(4)),
  ];
  expect(await totals(vercelAi, JSON.stringify(spans))).toEqual([2, 3, 5]);
});
