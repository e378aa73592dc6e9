import { readFileSync } from 'node:fs';
import type { CountedEvent } from '../kit/truth.ts';

const folder = new URL('../../fixtures/formats/', import.meta.url);
const linesOf = (file: string) => readFileSync(new URL(file, folder), 'utf8').trim().split('\n');

/** A span of vLLM, SGLang or a client, as OTLP JSON. */
export type RawSpan = Record<string, unknown>;

interface RawRequest {
  readonly resourceSpans: readonly {
    readonly resource: unknown;
    readonly scopeSpans: readonly { readonly scope: unknown; readonly spans: readonly RawSpan[] }[];
  }[];
}

/**
 * The 50 spans of LLM servers and clients of the fixtures, of now: a request of OTLP JSON for each exporter,
 * and the events that they are.
 */
export function llmSpans(nowMs: number): {
  readonly requests: readonly string[];
  readonly events: readonly CountedEvent[];
} {
  const texts = linesOf('llm-server-spans/vllm-sglang-genai.otlp.jsonl');
  const ends = texts.flatMap((text) => [...text.matchAll(/"endTimeUnixNano":"(\d+)"/g)]);
  const lastMs = Math.max(...ends.map(([, ns]) => Number(ns?.slice(0, -6))));
  const shiftMs = BigInt(Math.floor(nowMs) - lastMs - 1_000);
  return {
    requests: texts.map((text) =>
      text.replace(
        /"((?:startT|endT|t)imeUnixNano)":"(\d+)"/g,
        (_, key, ns) => `"${key}":"${BigInt(ns) + shiftMs * 1_000_000n}"`,
      ),
    ),
    events: linesOf('expected/llm-server-spans.ndjson').map((line) => JSON.parse(line)),
  };
}

/** A request of some spans, each made of a span of the first by what `change` replaces. */
export function changed(request: string, changes: readonly Partial<RawSpan>[]): string {
  const { resourceSpans } = JSON.parse(request) as RawRequest;
  const { resource, scopeSpans } = resourceSpans[0] as RawRequest['resourceSpans'][number];
  const { scope, spans } = scopeSpans[0] as (typeof scopeSpans)[number];
  const own = changes.map((change) => ({ ...spans[0], ...change }));
  return JSON.stringify({
    resourceSpans: [{ resource, scopeSpans: [{ scope, spans: own }] }],
  });
}
