// Covers src/convert/json-values.ts.

import { describe, expect, test } from 'vitest';
import { jaegerUi, otlpJson, vercelAi } from '../../../src/convert/spans/span-formats.ts';
import { convert, fixtureText, textFile } from '../conversion.ts';
import { results } from './results.ts';

const text = (key: string, value: unknown) => ({ key, value: { stringValue: value } });

/** A chat of 1.5 ms, changed. */
function chat(change: Record<string, unknown> = {}) {
  return {
    traceId: '4462EBFC5F915EF09CFBAC6E7687A66E',
    spanId: '2fa73207237751aa',
    parentSpanId: '',
    name: 'chat m',
    kind: 3,
    startTimeUnixNano: '1795609800062290176',
    endTimeUnixNano: '1795609800063790176',
    attributes: [text('gen_ai.operation.name', 'chat'), text('gen_ai.request.model', 'm')],
    status: {},
    ...change,
  };
}

const request = (...spans: unknown[]) =>
  JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] });

const eventOfChat = {
  ts: 1795609800062,
  model: 'm',
  trace_id: '4462ebfc5f915ef09cfbac6e7687a66e',
  status: 'ok',
  total_ms: 1.5,
  stages_ms: {},
};

const allOf = async (content: string) => await results(otlpJson, content);
const eventsOf = async (content: string) => (await allOf(content)).drafts.map(({ event }) => event);

describe('OTLP JSON', () => {
  test('a good span gives its event', async () => {
    expect(await eventsOf(request(chat()))).toEqual([eventOfChat]);
  });

  test('--model is the model of a span that names none, and of no other', async () => {
    const attributes = [text('gen_ai.operation.name', 'chat')];
    const file = textFile(request(chat(), chat({ attributes })));
    const { events } = await convert(otlpJson, file, { model: 'given' });
    expect(events.map(({ model }) => model)).toEqual(['m', 'given']);
  });

  test('a span without end is rejected, if a preset knows it', async () => {
    for (const end of ['0', 0, '', undefined, null, {}, 'soon', -1]) {
      const got = await allOf(request(chat({ endTimeUnixNano: end })));
      expect(got.rejects.map(({ reason }) => reason)).toEqual(['no_end']);
    }
    const unknown = await allOf(request(chat({ endTimeUnixNano: '0', attributes: [] })));
    expect(unknown).toEqual({ drafts: [], rejects: [], skipped: 1 });
  });

  test('a span that ends before it starts is rejected, with an origin that is rejected as it was', async () => {
    const first = await allOf(request(chat(), chat({ endTimeUnixNano: '1795609800062290175' })));
    expect(first.drafts).toHaveLength(1);
    expect(first.rejects[0]).toMatchObject({
      reason: 'ends_before_start',
      detail: 'The span must not end before it starts, and ends 0.000001 ms before.',
    });
    const again = await allOf(first.rejects[0]!.bytes);
    expect(again.rejects).toHaveLength(1);
    expect(again.rejects[0]).toMatchObject({ reason: 'ends_before_start' });
  });

  test('ids of zero, of other letters and of other types count as absent', async () => {
    for (const traceId of ['0'.repeat(32), '', 'xyz', 7, null, [], 'a'.repeat(1000)]) {
      const { trace_id, ...others } = eventOfChat;
      expect(await eventsOf(request(chat({ traceId, spanId: traceId })))).toEqual([others]);
    }
  });

  test('times are exact as numbers too', async () => {
    const line = request(chat()).replace(/"(\d{19})"/g, '$1');
    expect(line).toContain('"startTimeUnixNano":1795609800062290176,');
    expect(await eventsOf(line.replace('063790176', '063790177'))).toEqual([
      { ...eventOfChat, total_ms: 1.500001 },
    ]);
  });

  test('text that looks like a time stays as it is', async () => {
    const model = '{"startTimeUnixNano":1795609800062290176}';
    const span = chat({
      attributes: [text('gen_ai.operation.name', 'chat'), text('gen_ai.request.model', model)],
    });
    expect(await eventsOf(request(span))).toEqual([{ ...eventOfChat, model }]);
  });

  test('a cut line costs no other line', async () => {
    const line = request(chat());
    for (const cut of [1, 20, 50, 150, line.length - 1]) {
      const got = await allOf(`${line}\n${line.slice(0, cut)}\n${line}\n`);
      expect(got.drafts).toHaveLength(2);
      expect(got.rejects.map(({ reason }) => reason)).toEqual(['invalid_line']);
      expect(got.rejects[0]!.bytes).toBe(line.slice(0, cut));
    }
  });

  test('a whole file may be one object over many lines, or several', async () => {
    const pretty = JSON.stringify(JSON.parse(request(chat())), null, 2);
    expect(await eventsOf(`\uFEFF${pretty}`)).toEqual([eventOfChat]);
    expect(await eventsOf(`${pretty}\r\n\r\n${pretty}\n${request(chat())}`)).toHaveLength(3);
    const cut = await allOf(pretty.slice(0, -20));
    expect(cut.rejects.map(({ reason }) => reason)).toEqual(['invalid_line']);
  });

  test('brackets and quotes in strings do not end a value', async () => {
    const attributes = [...chat().attributes, text('prompt', '}]"\\"{[\\\\'), text('"', '\\')];
    const pretty = JSON.stringify(JSON.parse(request(chat({ attributes }))), null, 2);
    expect(await eventsOf(`${pretty}\n${pretty}`)).toHaveLength(2);
  });

  test('what is no request is rejected, each once', async () => {
    for (const line of [
      'garbage',
      '5',
      '[]',
      'null',
      '"a"',
      '}',
      '{"resourceSpans":7}',
      '\u0000',
    ]) {
      const got = await allOf(line);
      expect([line, got.rejects.map(({ reason }) => reason)]).toEqual([line, ['invalid_line']]);
    }
    expect(await allOf('')).toEqual({ drafts: [], rejects: [], skipped: 0 });
    expect(await allOf('\n \n{}\n')).toEqual({ drafts: [], rejects: [], skipped: 0 });
  });

  test('spans of wrong types are rejected or skipped', async () => {
    const got = await allOf(request(null, 5, 'a', [], {}, chat({ attributes: undefined })));
    expect(got.rejects).toHaveLength(4);
    expect(got.skipped).toBe(2);
    expect(got.rejects[1]!.bytes).toContain('"spans":[5]');
  });

  test('lists and objects of wrong types are rejected, each once', async () => {
    const parts = [
      null,
      [],
      { scopeSpans: 5 },
      { scopeSpans: [7] },
      { scopeSpans: [{ spans: 'a' }] },
    ];
    for (const part of parts) {
      const line = JSON.stringify({ resourceSpans: [part] });
      const got = await allOf(line);
      expect([line, got.rejects.map(({ reason }) => reason)]).toEqual([line, ['invalid_line']]);
      const again = await allOf(got.rejects[0]!.bytes);
      expect(again.rejects[0]?.detail).toBe(got.rejects[0]!.detail);
    }
  });

  test('deep nesting is no failure, nor is its dead letter', async () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    const field = request(chat({ endTimeUnixNano: '0', x: 'DEEP' })).replace('"DEEP"', deep);
    const got = await allOf(`${field}\n${deep}\n${request(chat())}`);
    expect(got.rejects.map(({ reason }) => reason)).toEqual(['no_end', 'invalid_line']);
    expect(got.rejects[0]!.bytes).toContain('"x":null');
    expect(got.drafts).toHaveLength(1);
  });

  test('100,000 spans in a line', async () => {
    const span = JSON.stringify(chat());
    const line = `{"resourceSpans":[{"scopeSpans":[{"spans":[${`${span},`.repeat(99_999)}${span}]}]}]}`;
    let drafts = 0;
    async function* open() {
      yield Buffer.from(line);
    }
    await otlpJson.convert(
      [{ name: 'a', open }],
      {},
      {
        draft: () => drafts++,
        reject: () => expect.unreachable(),
        skip: () => expect.unreachable(),
      },
    );
    expect(drafts).toBe(100_000);
  });
});

/** What stands in place of any value of a document. */
const wrong = [null, 0, -1, 1e300, '', 'x', true, [], {}, [[]], [null], { a: null }];

/** Yields the document with each of its values replaced in turn. */
function* withWrong(value: unknown): Generator<unknown> {
  yield* wrong;
  if (typeof value !== 'object' || value === null) return;
  for (const [key, part] of Object.entries(value)) {
    for (const changed of withWrong(part)) {
      if (Array.isArray(value)) yield value.with(Number(key), changed);
      else yield { ...value, [key]: changed };
    }
  }
}

describe.each([
  [otlpJson, 'llm-server-spans/vllm-sglang-genai.otlp.jsonl'],
  [otlpJson, 'openllmetry/openai-chat.otlp.jsonl'],
  [jaegerUi, 'jaeger-ui-json/genai-agent-trace.json'],
  [vercelAi, 'openinference/vercel-ai-sdk-v6-all-spans.json'],
] as const)('$0.name: $1', (format, name) => {
  const content = fixtureText(name);

  test('any value of a wrong type is no failure, and counts once at most', async () => {
    const origins = (await results(format, content)).drafts;
    for (const changed of withWrong(JSON.parse(origins[0]!.bytes))) {
      const got = await results(format, JSON.stringify(changed));
      const count = got.drafts.length + got.rejects.length + got.skipped;
      expect(count).toBeLessThanOrEqual(1);
    }
  });

  test('any cut is no failure', async () => {
    for (let length = 0; length < content.length; length += 997) {
      await results(format, content.slice(0, length));
    }
  });
});

describe('Jaeger UI JSON', () => {
  const files: [string, number][] = [
    ['pyroscope-ride-sharing', 4],
    ['child-longer-than-parent', 4],
    ['genai-agent-trace', 57],
  ];

  test.each(files)('%s: all %d spans are skipped or an event', async (name, spans) => {
    const content = fixtureText(`jaeger-ui-json/${name}.json`);
    const got = await results(jaegerUi, content);
    expect(got.rejects).toEqual([]);
    expect(got.skipped + got.drafts.length).toBe(spans);
  });

  test('a span without duration has no end, and a negative one ends before it starts', async () => {
    const tags = [{ key: 'gen_ai.operation.name', type: 'string', value: 'chat' }];
    const spans = [
      { startTime: 1770000000005000, tags },
      { startTime: 1, duration: -5, tags },
    ];
    const got = await results(jaegerUi, JSON.stringify({ data: [{ spans }] }));
    expect(got.rejects.map(({ reason }) => reason)).toEqual(['no_end', 'ends_before_start']);
  });
});
