import { MemoryWindows } from '../../../src/backtest/memory-windows.ts';
import { hourMs, minuteMs } from '../../../src/base/time.ts';
import { configSchema } from '../../../src/config/schema.ts';
import type { AnomalyEvent } from '../../../src/contract/anomaly-event.ts';
import { Detector } from '../../../src/detect/detector.ts';
import { defaultFleet } from '../../../src/generate/default-fleet.ts';
import type { Fault } from '../../../src/generate/fault.ts';
import { publishedTraffic } from '../../../src/generate/publish/published-traffic.ts';
import { pagesPerWeek } from '../judge-series.ts';
import { type FaultCase, faultCases, isMixRight } from './fault-cases.ts';

export interface KindsOrder {
  readonly seed: number;
  /** Days after the first one without faults, instead of one fault after another. */
  readonly calmDays?: number;
}

/** Result of one fault. */
export interface KindOutcome {
  readonly name: string;
  /** Summaries of its pages, oldest first: of each, the first event. */
  readonly emitted: readonly string[];
  readonly delayMs: number | undefined;
  readonly isKind: boolean;
  readonly isStage: boolean | undefined;
  readonly namesCause: boolean | undefined;
  readonly isMixRight: boolean;
  readonly pages: number;
  readonly resolves: number;
}

export interface KindsOutcome extends KindsOrder {
  readonly outcomes: readonly KindOutcome[];
  /** Summaries of events without a fault, after the first day. */
  readonly falsePages: readonly string[];
  readonly hours: number;
  /** Of all series, hours in which they had a baseline. */
  readonly seriesHours: number;
}

const startMs = Date.UTC(2026, 10, 2);
/** A day to learn from, and then one fault after another. */
const learningMs = 24 * hourMs;
const everyMs = 150 * minuteMs;
const lastsMs = 20 * minuteMs;
/** Time after the end in which an event still counts as found, or as the same page. */
const afterMs = 10 * minuteMs;
const evaluatedAfterMs = 2_000;
/** Of two models: two versions, regions and request types, cold and warm. The budget is that of the other evaluation. */
const series = 32;
const ratePerSecond = 40;
const eventsPerMessage = 500;

interface Timed {
  readonly each: FaultCase;
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Runs a fleet of 32 series for two days, through decoding, windows, detector and grouping like a user's.
 * After one day it has one fault of each kind, in an order that depends on the seed. The same order gives the
 * same outcome.
 */
export function runKinds(order: KindsOrder): KindsOutcome {
  const { seed, calmDays } = order;
  const config = configSchema.parse({ detect: { page_budget_per_week: pagesPerWeek * series } });
  const cases = calmDays === undefined ? faultCases : [];
  const timed = cases.map((_, n): Timed => {
    const each = faultCases[(n + seed) % faultCases.length] as FaultCase;
    const fromMs = learningMs + n * everyMs + (seed % 7) * minuteMs;
    return { each, fromMs, toMs: fromMs + Math.max(lastsMs, each.fault.rampMs ?? 0) };
  });
  const lastMs = timed.at(-1)?.toMs ?? learningMs + (calmDays ?? 0) * 24 * hourMs - hourMs;
  const durationMs = lastMs + hourMs;
  const windows = new MemoryWindows(config);
  const detector = new Detector(config.detect);
  const emitted: AnomalyEvent[] = [];
  let seriesWindows = 0;
  const evaluate = (isOver: boolean) => {
    for (const at of windows.complete(isOver)) {
      const nowMs = at.startMs + config.detect.window + evaluatedAfterMs;
      const isJudged = at.startMs >= startMs + learningMs;
      if (isJudged)
        for (const { series } of at.windows)
          if (detector.reference(series, 'total')) seriesWindows++;
      for (const event of detector.observe(at.windows, nowMs, at.startMs)) {
        // A member of an incident that is emitted as one.
        if (event.incident_id === undefined) emitted.push(windows.explained(event));
      }
    }
  };
  let lines: string[] = [];
  const send = () => {
    windows.consume(Buffer.from(lines.join('\n')));
    lines = [];
    evaluate(false);
  };
  for (const { event } of publishedTraffic({
    ...{ seed: `kinds ${seed}`, startMs, durationMs, ratePerSecond },
    models: defaultFleet.filter(({ name }) => name !== 'llm'),
    faults: timed.map(({ each, fromMs, toMs }): Fault => {
      return { ...each.fault, fromMs, forMs: toMs - fromMs };
    }),
  })) {
    lines.push(JSON.stringify(event));
    if (lines.length === eventsPerMessage) send();
  }
  send();
  evaluate(true);
  const opened = emitted.filter(({ state }) => state === 'opened');
  const atMs = ({ detected_at }: AnomalyEvent) => Date.parse(detected_at) - startMs;
  const isDuring = (event: AnomalyEvent, { fromMs, toMs }: Timed) =>
    atMs(event) >= fromMs && atMs(event) < toMs + afterMs;
  return {
    ...order,
    outcomes: timed.map((time) =>
      outcomeOf(
        time,
        opened.filter((event) => isDuring(event, time)),
        emitted,
      ),
    ),
    falsePages: opened
      .filter((event) => atMs(event) >= learningMs && !timed.some((time) => isDuring(event, time)))
      .map(textOf),
    hours: (durationMs - learningMs) / hourMs,
    seriesHours: (seriesWindows * config.detect.window) / hourMs,
  };
}

function outcomeOf(
  { each, fromMs }: Timed,
  own: readonly AnomalyEvent[],
  emitted: readonly AnomalyEvent[],
): KindOutcome {
  const ofKind = own.filter(({ kind }) => kind === each.kind);
  const first = ofKind[0];
  const ids = new Set(own.map(({ id }) => id));
  return {
    name: each.name,
    emitted: own.map(textOf),
    delayMs: first && Date.parse(first.detected_at) - startMs - fromMs,
    isKind: first !== undefined,
    isStage: first && each.stages?.includes(first.stage),
    namesCause: first && each.namesCause?.(first),
    isMixRight: first !== undefined && isMixRight(each, first),
    pages: own.length,
    resolves: emitted.filter(({ id, state }) => ids.has(id) && state === 'resolved').length,
  };
}

function textOf(event: AnomalyEvent): string {
  const { detected_at, kind, bottleneck, summary, drivers = [], scope } = event;
  const named = drivers.map(({ facet, value }) => `${facet}=${value}`);
  const common = scope?.common.map(({ dimension, value }) => `${dimension}=${value}`) ?? [];
  const { test, p_value, windows, exceedances, expected, dispersion } = event.evidence;
  const why = `${test} ${p_value.toExponential(1)}, ${windows} windows, ${exceedances.toFixed(1)} of ${event.requests}, usually ${expected.toFixed(1)}, dispersion ${dispersion.toFixed(1)}`;
  return `${detected_at} ${kind}, ${bottleneck}: ${summary}; ${[...named, ...common].join(' ')} (${why})`;
}
