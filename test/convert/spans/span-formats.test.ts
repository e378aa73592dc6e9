import { describe, expect, test } from 'vitest';
import type { FileFormat } from '../../../src/convert/file-format.ts';
import { jaegerUi, otlpJson, vercelAi } from '../../../src/convert/spans/span-formats.ts';
import { fixtureBytes, fixtureText } from '../conversion.ts';
import { results } from './results.ts';

interface Case {
  readonly format: FileFormat;
  readonly file: string;
  readonly expected: string;
  readonly events: number;
  readonly skipped: number;
}

const cases: Case[] = [
  {
    format: otlpJson,
    file: 'llm-server-spans/vllm-sglang-genai.otlp.jsonl',
    expected: 'llm-server-spans',
    events: 50,
    skipped: 0,
  },
  {
    format: otlpJson,
    file: 'openllmetry/openai-chat.otlp.jsonl',
    expected: 'openllmetry',
    events: 9,
    skipped: 8,
  },
  {
    format: otlpJson,
    file: 'openinference/openai-chat.otlp.jsonl',
    expected: 'openinference',
    events: 9,
    skipped: 8,
  },
  {
    format: jaegerUi,
    file: 'jaeger-ui-json/genai-agent-trace.json',
    expected: 'jaeger-genai-agent-trace',
    events: 5,
    skipped: 52,
  },
  {
    format: vercelAi,
    file: 'openinference/vercel-ai-sdk-v6-all-spans.json',
    expected: 'vercel-ai-sdk-v6',
    events: 5,
    skipped: 5,
  },
];

/** Durations count as equal to a nanosecond. */
function withCloseDurations(event: Record<string, unknown>) {
  const stages = Object.entries(event.stages_ms as Record<string, number>);
  return {
    ...event,
    total_ms: close(event.total_ms as number),
    stages_ms: Object.fromEntries(stages.map(([name, ms]) => [name, close(ms)])),
  };
}

const close = (ms: number) => ({ asymmetricMatch: (other: unknown) => isClose(other, ms) });

function isClose(other: unknown, ms: number): boolean {
  return typeof other === 'number' && Math.abs(other - ms) <= 1e-6;
}

test("OpenLLMetry's events of chunks are the gaps of their request, to the nanosecond", async () => {
  const file = 'openllmetry/openai-chat.otlp.jsonl';
  const { drafts } = await results(otlpJson, fixtureBytes(file));
  const chunks = 'gen_ai.content.completion.chunk';
  type Raw = { name: string; spanId: string; events?: { name: string; timeUnixNano: string }[] };
  const raw = fixtureText(file)
    .trim()
    .split('\n')
    .flatMap((line) => JSON.parse(line).resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }) => spans as Raw[])
    .filter(({ name }) => name === 'openai.chat')
    .map(({ events = [] }) =>
      events.filter(({ name }) => name === chunks).map((event) => BigInt(event.timeUnixNano)),
    )
    .map((times) => times.slice(1).map((time, i) => Number(time - (times[i] as bigint))));
  const ours = drafts.map(({ event }) => (event.itl_ms as number[] | undefined) ?? []);
  expect(ours.map((gaps) => gaps.map((ms) => Math.round(ms * 1e6)))).toEqual(raw);
  const streamed = raw.filter((gaps) => gaps.length > 0);
  // 62 events of chunks.
  expect(streamed.flat()).toHaveLength(62 - streamed.length);
  expect(
    drafts.filter(({ event }) => 'itl_ms' in event && event.itl_ms !== undefined),
  ).toHaveLength(streamed.length);
});

describe.each(cases)('$file', ({ format, file, expected, events, skipped }) => {
  const text = fixtureBytes(file);
  const lines = fixtureText(`expected/${expected}.ndjson`).trim().split('\n');

  test('gives every expected event and nothing else', async () => {
    const got = await results(format, text);
    expect(got.rejects).toEqual([]);
    expect(got.skipped).toBe(skipped);
    expect(got.drafts).toHaveLength(events);
    expect(lines).toHaveLength(events);
    const wanted = lines.map((line) => withCloseDurations(JSON.parse(line)));
    // The independent script leaves gaps out.
    expect(got.drafts.map(({ event: { itl_ms: _, ...event } }) => event)).toEqual(wanted);
  });

  test('gives the same whatever the chunks', async () => {
    const whole = await results(format, text);
    const cut = await results(format, text, 7);
    expect(cut.drafts.map(({ event }) => event)).toEqual(whole.drafts.map(({ event }) => event));
  });

  test('gives an origin that reads as the event did', async () => {
    for (const { event, bytes } of (await results(format, text)).drafts) {
      const again = await results(format, bytes);
      expect(again.drafts.map((draft) => draft.event)).toEqual([event]);
      expect(again.skipped).toBe(0);
    }
  });

  test('is recognised by its beginning, by this format only', () => {
    const head = text.toString('utf8', 0, 65_536);
    for (const other of [otlpJson, jaegerUi, vercelAi]) {
      const recognised = other.recognise(head, 'spans.json') !== undefined;
      expect([other.name, recognised]).toEqual([other.name, other === format]);
    }
  });
});
