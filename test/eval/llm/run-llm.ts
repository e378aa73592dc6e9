import { Backtest } from '../../../src/backtest/backtest.ts';
import { MemoryWindows } from '../../../src/backtest/memory-windows.ts';
import { dayMs, hourMs, minuteMs, secondMs } from '../../../src/base/time.ts';
import { configSchema } from '../../../src/config/schema.ts';
import type { AnomalyEvent } from '../../../src/contract/anomaly-event.ts';
import { Random } from '../../../src/generate/random.ts';
import {
  type LlmFault,
  type LlmFaultKind,
  LlmLaw,
  type LlmRequest,
  llmFaultKinds,
} from './llm-law.ts';

/** One server: what it learns, and then each fault once; or days without any. */
export interface LlmOrder {
  readonly seed: number;
  readonly ratePerSecond: number;
  readonly pastHours: number;
  /** Days without a fault after the past; 0: the faults. */
  readonly calmDays: number;
}

/** An incident, as it was when it paged, and what became of its severity and class. */
export interface LlmPage {
  readonly atMs: number;
  readonly kind: AnomalyEvent['kind'];
  readonly stage: string;
  readonly bottleneck: string;
  /** Part of the rise that larger requests explain; undefined where nothing is known of it. */
  readonly mixShare: number | undefined;
  readonly severities: readonly string[];
  readonly summary: string;
}

export interface LlmFaultOutcome {
  readonly kind: LlmFaultKind;
  readonly factor: number;
  /** Whether the effect on a tail is over the least one that is asked for. */
  readonly isOverLeast: boolean;
  /** Milliseconds from its start to the first page; undefined without one. */
  readonly delayMs: number | undefined;
  readonly pages: readonly LlmPage[];
}

export interface LlmOutcome extends LlmOrder {
  readonly faults: readonly LlmFaultOutcome[];
  /** Pages that no fault explains. */
  readonly others: readonly LlmPage[];
}

const startMs = Date.UTC(2026, 10, 2);
const faultMs = 15 * minuteMs;
const pauseMs = 45 * minuteMs;
/** Time after its end in which a fault may still page: its last requests have not ended. */
const lateMs = 4 * minuteMs;
const config = configSchema.parse({});

/** Runs an order through ingest's counting and the detector, with what both know of sizes. */
export function runLlm(order: LlmOrder): LlmOutcome {
  const { seed, ratePerSecond, pastHours, calmDays } = order;
  const law = new LlmLaw(seed, ratePerSecond);
  const pastMs = pastHours * hourMs;
  const faults = calmDays > 0 ? [] : faultsOf(seed, pastMs);
  const endMs = calmDays > 0 ? pastMs + calmDays * dayMs : (faults.at(-1)?.toMs ?? 0) + pauseMs;
  const pages = pagesOf(law, faults, endMs);
  const isOf = ({ atMs }: LlmPage, { fromMs, toMs }: LlmFault) =>
    atMs >= fromMs && atMs <= toMs + lateMs;
  return {
    ...order,
    faults: faults.map((fault): LlmFaultOutcome => {
      const own = pages.filter((page) => isOf(page, fault));
      const [first] = own;
      return {
        ...{ kind: fault.kind, factor: fault.factor, pages: own },
        isOverLeast: isOverLeast(law, fault, seed),
        delayMs: first === undefined ? undefined : first.atMs - fault.fromMs,
      };
    }),
    others: pages.filter((page) => !faults.some((fault) => isOf(page, fault))),
  };
}

/** Each kind once, in an order of the seed: a part is slower in 30 % of requests, lengths grow in all. */
function faultsOf(seed: number, pastMs: number): LlmFault[] {
  const random = new Random(`llm faults ${seed}`);
  const kinds = llmFaultKinds
    .map((kind) => ({ kind, at: random.uniform() }))
    .sort((a, b) => a.at - b.at);
  return kinds.map(({ kind }, n) => {
    const fromMs = pastMs + n * (faultMs + pauseMs);
    const [least, most] = { 'longer answers': [1.5, 3], 'longer prompts': [2, 4] }[
      kind as string
    ] ?? [3, 6];
    const factor = (least ?? 1) + ((most ?? 1) - (least ?? 1)) * random.uniform();
    const share = kind.startsWith('longer') ? 1 : 0.3;
    return { kind, fromMs, toMs: fromMs + faultMs, factor, share };
  });
}

function pagesOf(law: LlmLaw, faults: readonly LlmFault[], endMs: number): LlmPage[] {
  const windows = new MemoryWindows(config);
  const pages = new Map<string, LlmPage>();
  const backtest = new Backtest(config.detect, (event) => {
    const explained = windows.explained(event);
    addTo(pages, explained);
    return explained;
  });
  const evaluate = (isOver: boolean) => {
    for (const at of windows.complete(isOver)) backtest.evaluate([at]);
  };
  for (const message of messagesOf(law, faults, endMs)) {
    windows.consume(message);
    evaluate(false);
  }
  evaluate(true);
  return [...pages.values()];
}

function addTo(pages: Map<string, LlmPage>, event: AnomalyEvent): void {
  const { id, kind, stage, bottleneck, severity, summary, mix_share: mixShare } = event;
  const known = pages.get(id);
  if (known !== undefined) {
    if (known.severities.at(-1) === severity) return;
    pages.set(id, { ...known, severities: [...known.severities, severity] });
    return;
  }
  const atMs = Date.parse(event.emitted_at) - startMs;
  pages.set(id, { atMs, kind, stage, bottleneck, mixShare, severities: [severity], summary });
}

/** A message a second, with the requests that ended in it. */
function* messagesOf(law: LlmLaw, faults: readonly LlmFault[], endMs: number): Generator<Buffer> {
  const ending = new Map<number, string[]>();
  for (let atMs = 0; atMs < endMs; atMs += secondMs) {
    for (const request of law.second(atMs, faults)) {
      const beginMs = Math.round(startMs + atMs + request.afterMs);
      const at = Math.floor((beginMs + totalOf(request) - startMs) / secondMs);
      const lines = ending.get(at);
      if (lines === undefined) ending.set(at, [lineOf(beginMs, request)]);
      else lines.push(lineOf(beginMs, request));
    }
    const at = atMs / secondMs;
    const lines = ending.get(at);
    ending.delete(at);
    if (lines !== undefined) yield Buffer.from(lines.join('\n'));
  }
}

const otherMs = 5;
const totalOf = ({ queueMs, prefillMs, decodeMs }: LlmRequest) =>
  queueMs + prefillMs + decodeMs + otherMs;
const ttftOf = ({ queueMs, prefillMs }: LlmRequest) => queueMs + prefillMs;

function lineOf(ts: number, request: LlmRequest): string {
  const { queueMs, prefillMs, decodeMs, inputTokens, outputTokens } = request;
  return JSON.stringify({
    ...{ ts, model: 'chat', version: 'v1', total_ms: rounded(totalOf(request)) },
    ...{ input_tokens: inputTokens, output_tokens: outputTokens },
    milestones_ms: { first_token: rounded(ttftOf(request)) },
    stages_ms: {
      ...{ queue: rounded(queueMs), prefill: rounded(prefillMs), decode: rounded(decodeMs) },
      postprocess: otherMs,
    },
  });
}

const rounded = (ms: number) => Math.round(ms * 1_000) / 1_000;

/** Requests that the truth of an effect is drawn from. */
const truthRequests = 40_000;
const part: Readonly<Partial<Record<LlmFaultKind, (request: LlmRequest) => number>>> = {
  queue: ({ queueMs }) => queueMs,
  prefill: ({ prefillMs }) => prefillMs,
  decode: ({ decodeMs }) => decodeMs,
};

/** True where a tail of the total, of the first token or of the slow part grows by the least effect. */
function isOverLeast(law: LlmLaw, fault: LlmFault, seed: number): boolean {
  const { quantiles, min_effect_ratio, min_effect_ms, min_effect_of_total } = config.detect;
  const atMs = (fault.fromMs + fault.toMs) / 2;
  const [before, now] = [undefined, fault].map((given) => {
    const random = new Random(`llm truth ${seed}`);
    return Array.from({ length: truthRequests }, () => law.request(atMs, given, random));
  }) as [LlmRequest[], LlmRequest[]];
  return quantiles.some((q) => {
    const grown = (of: (request: LlmRequest) => number, leastMs: number) => {
      const [a, b] = [quantileOf(before.map(of), q), quantileOf(now.map(of), q)];
      return b / a >= min_effect_ratio && b - a >= leastMs;
    };
    const own = part[fault.kind];
    const leastMs = Math.max(
      min_effect_ms,
      min_effect_of_total * quantileOf(before.map(totalOf), q),
    );
    return (
      grown(totalOf, min_effect_ms) ||
      grown(ttftOf, min_effect_ms) ||
      (own !== undefined && grown(own, leastMs))
    );
  });
}

function quantileOf(values: number[], q: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.floor(q * sorted.length)] ?? Number.NaN;
}
