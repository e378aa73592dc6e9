import { minuteMs } from '../../../src/base/time.ts';
import { configSchema } from '../../../src/config/schema.ts';
import type { AnomalyEvent } from '../../../src/contract/anomaly-event.ts';
import { Detector } from '../../../src/detect/detector.ts';
import { sharedPart } from '../../../src/detect/state-parts.ts';
import type { Fault } from '../faults.ts';
import { incidentTraffic } from '../incidents/incident-traffic.ts';
import { pagesPerWeek } from '../judge-series.ts';
import { windowMs } from '../null-families.ts';
import { type PairOrder, type PairSeries, pairSeries } from './pair-cases.ts';

/** An anomaly: when it was opened and resolved, in milliseconds, and what it blames. */
export interface Page {
  readonly openedMs: number;
  readonly resolvedMs: number | undefined;
  readonly stage: string;
  readonly summary: string;
}

export interface PairOutcome {
  readonly name: string;
  /** From the start of the first fault to that of the second; and from the first's end. */
  readonly afterMs: number;
  readonly sinceEndMs: number;
  readonly isFirstPagedAlone: boolean;
  readonly isSecondPagedAlone: boolean;
  /** Whether a page of the pair blames the second fault's stage while it lasts, or soon after. */
  readonly isSecondPaged: boolean;
  readonly pages: readonly Page[];
}

/** A fault of two minutes: how many pages, and how long after its end the last of them was resolved. */
export interface ShortOutcome {
  readonly name: string;
  readonly ratePerSecond: number;
  readonly pages: number;
  /** Undefined without a page; infinite where it stays open, which JSON has as null. */
  readonly openAfterMs: number | null | undefined;
}

export interface PairsOutcome extends PairOrder {
  readonly pairs: readonly PairOutcome[];
  readonly short: readonly ShortOutcome[];
}

type Snapshot = ReadonlyMap<string, Buffer>;

const firstMs = Date.UTC(2026, 10, 2);
/** Time after its end in which a fault may still page. */
const lateMs = 4 * minuteMs;
/** Windows that are followed after the last fault. */
const followedWindows = (30 * minuteMs) / windowMs;
/** Windows drawn before a continuation begins: requests last no longer. */
const runningWindows = (3 * minuteMs) / windowMs;

/** Runs the pairs and the short faults of a series, each from the same past. */
export function runPairs(order: PairOrder): PairsOutcome {
  const series = pairSeries(order);
  const learnt = learn(series, order.seed);
  const run = (faults: readonly Fault[]) => pagesOf(series, order.seed, learnt, faults);
  return {
    ...order,
    pairs: series.pairs.map(({ first, second }): PairOutcome => {
      const pages = run([first, second]);
      return {
        name: `${first.stage} ${first.kind}, ${second.stage} ${second.kind}`,
        afterMs: (second.from - first.from) * windowMs,
        sinceEndMs: (second.from - first.to) * windowMs,
        isFirstPagedAlone: run([first]).some((page) => isOf(page, first)),
        isSecondPagedAlone: run([second]).some((page) => isOf(page, second)),
        isSecondPaged: pages.some((page) => page.stage === second.stage && isOf(page, second)),
        pages,
      };
    }),
    short: series.short.map((fault): ShortOutcome => {
      const pages = run([fault]);
      const endMs = Math.max(
        ...pages.map(({ resolvedMs = Number.POSITIVE_INFINITY }) => resolvedMs),
      );
      return {
        name: `${fault.stage} ${fault.kind}`,
        ratePerSecond: series.ratePerSecond,
        pages: pages.length,
        openAfterMs: pages.length === 0 ? undefined : endMs - msOf(fault.to),
      };
    }),
  };
}

function isOf({ openedMs }: Page, { from, to }: Fault): boolean {
  return openedMs >= msOf(from) && openedMs <= msOf(to) + lateMs;
}

/** Pages of some faults, from a learnt past on. */
function pagesOf(
  series: PairSeries,
  seed: number,
  learnt: Snapshot,
  faults: readonly Fault[],
): Page[] {
  const detector = newDetector();
  const loading = detector.beginLoad(learnt.get(sharedPart) ?? Buffer.alloc(0));
  for (const [name, bytes] of learnt) if (name !== sharedPart) loading.load({ name, bytes });
  loading.end();
  const windows = Math.max(...faults.map(({ to }) => to)) + followedWindows;
  const opened = new Map<string, Page>();
  const firstWindow = series.learntWindows - runningWindows;
  for (const at of trafficOf(series, seed, { windows, faults, firstWindow })) {
    if (at.window < series.learntWindows) continue;
    for (const event of observe(detector, at)) {
      const { id, state, stage, summary, incident_id } = event;
      if (incident_id !== undefined) continue;
      const atMs = Date.parse(event.emitted_at);
      if (state === 'opened')
        opened.set(id, { openedMs: atMs, resolvedMs: undefined, stage, summary });
      const page = opened.get(id);
      if (state === 'resolved' && page !== undefined) opened.set(id, { ...page, resolvedMs: atMs });
    }
  }
  return [...opened.values()];
}

function learn(series: PairSeries, seed: number): Snapshot {
  const detector = newDetector();
  const windows = series.learntWindows;
  for (const at of trafficOf(series, seed, { windows, faults: [] })) observe(detector, at);
  return new Map([...detector.save()].map(({ name, bytes }) => [name, bytes]));
}

function trafficOf(
  { stages, ratePerSecond }: PairSeries,
  seed: number,
  part: { windows: number; faults: readonly Fault[]; firstWindow?: number },
) {
  return incidentTraffic({ family: 'independent', seed, ratePerSecond, stages, ...part });
}

type Observed = { present: Parameters<Detector['observe']>[0]; windowStartMs: number };

function observe(detector: Detector, { present, windowStartMs }: Observed): AnomalyEvent[] {
  return detector.observe(present, windowStartMs + windowMs + 2_000, windowStartMs);
}

function newDetector(): Detector {
  return new Detector(
    configSchema.parse({ detect: { page_budget_per_week: pagesPerWeek } }).detect,
  );
}

function msOf(window: number): number {
  return firstMs + window * windowMs;
}
