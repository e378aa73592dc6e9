import { configSchema } from '../../src/config/schema.ts';
import type { AnomalyEvent } from '../../src/contract/anomaly-event.ts';
import { Detector } from '../../src/detect/detector.ts';
import type { Random } from '../../src/generate/random.ts';
import type { SeriesWindow } from '../../src/series/series-window.ts';
import { CompletedWindows, type VersionDurations } from './completed-windows.ts';
import type { Fault } from './faults.ts';
import { windowMs, windowsPerDay } from './null-families.ts';
import { type RivalName, Rivals, rivalNames } from './rivals.ts';
import { WindowMaker } from './window-maker.ts';

/** One simulated series: traffic of a family for some days, with faults from one day on, or none. */
export interface SeriesOrder {
  readonly family: string;
  readonly seed: number;
  readonly days: number;
  /** The first day with faults; undefined for traffic without faults. */
  readonly faultsFromDay?: number | undefined;
}

/** Result of a fault. */
export interface FaultOutcome {
  readonly kind: string;
  readonly stage: string;
  /** True where it is too small to page by `min_effect_ratio` and `min_effect_ms`. */
  readonly isSmall: boolean;
  /** Windows until the event, undefined without one. */
  readonly oracleWindows: number | undefined;
  readonly delayMs: number | undefined;
  readonly blamed: string | undefined;
  readonly pages: number;
  readonly resolves: number;
  readonly rivals: Readonly<Record<RivalName, boolean>>;
}

/** Traffic of a series, and what an oracle sees of its faults. */
export interface SeriesSource {
  readonly faults: readonly Fault[];
  /** Draws the requests that start in a window, by version; windows come in order. */
  startedIn(window: number, fault: Fault | undefined): readonly VersionDurations[];
  /** Adds the requests that complete in the window drawn last; not called after the last day. */
  observe(window: number, fault: Fault | undefined, completed: readonly VersionDurations[]): void;
  /** Returns the window in which the oracle finds a fault, -1 for none. */
  foundAt(fault: Fault): number;
  /** Whether a fault is too small to page, by `min_effect_ratio` and `min_effect_ms`. */
  isSmall(fault: Fault): boolean;
}

export interface SeriesOutcome extends SeriesOrder {
  /** Window and summary of each false page. */
  readonly falsePages: readonly { readonly window: number; readonly summary: string }[];
  readonly rivalFalsePages: Readonly<Record<RivalName, number>>;
  readonly faults: readonly FaultOutcome[];
  readonly seriesWindows: number;
  readonly detectorMs: number;
}

/** Page budget of one series: one in a thousand weeks. */
export const pagesPerWeek = 1e-3;
/** Settings of the detector, with what is too small to page. */
export const { detect: detectSettings } = configSchema.parse({
  detect: { page_budget_per_week: pagesPerWeek },
});
const startMs = Date.UTC(2026, 10, 2);
/** Time after the fault's end in which an event still counts as found, or as the same page. */
const afterMs = 10 * 60_000;
/** Days from which every method learns, without evaluation. */
export const learningDays = 1;
/** Days until all open anomalies must have ended: they are rebaselined after two. */
const epilogueDays = 3;

/**
 * Runs one series through the detector and its rivals, beside its oracle.
 *
 * @param random the source's own root, for the moments at which requests start
 */
export function judgeSeries(
  order: SeriesOrder,
  source: SeriesSource,
  random: Random,
): SeriesOutcome {
  const { faults } = source;
  const detector = new Detector(detectSettings);
  const rivals = new Rivals();
  const completed = new CompletedWindows(windowMs, random.split('offsets'));
  const maker = new WindowMaker(windowMs);
  const windows = order.days * windowsPerDay;
  const emitted: AnomalyEvent[] = [];
  let seriesWindows = 0;
  let detectorMs = 0;
  let at = 0;
  const drawn = (window: number, fault: Fault | undefined) => {
    const ended = completed.complete(window, source.startedIn(window, fault));
    const windowStartMs = startMs + window * windowMs;
    const present = ended.flatMap((each) =>
      maker.make(windowStartMs, each.version, each.durations),
    );
    return { ended, windowStartMs, present };
  };
  const evaluate = (present: readonly SeriesWindow[], windowStartMs: number) =>
    detector.observe(present, windowStartMs + windowMs + 2_000, windowStartMs);
  for (let window = 0; window < windows; window++) {
    while ((faults[at]?.to ?? Number.POSITIVE_INFINITY) <= window) at++;
    const fault = (faults[at]?.from ?? Number.POSITIVE_INFINITY) <= window ? faults[at] : undefined;
    const { ended, windowStartMs, present } = drawn(window, fault);
    source.observe(window, fault, ended);
    seriesWindows += present.length;
    rivals.observe(windowStartMs, present);
    const beganMs = performance.now();
    emitted.push(...evaluate(present, windowStartMs));
    detectorMs += performance.now() - beganMs;
  }
  // Anomalies open by then are followed to their ends, without faults; new ones are ignored.
  const open = stillOpen(emitted);
  const lastWindow = windows + epilogueDays * windowsPerDay;
  for (let window = windows; open.size > 0 && window < lastWindow; window++) {
    const { windowStartMs, present } = drawn(window, undefined);
    for (const event of evaluate(present, windowStartMs)) {
      if (event.state === 'resolved' && open.delete(event.id)) emitted.push(event);
    }
  }
  return { ...order, ...outcomeOf(emitted, rivals, source), seriesWindows, detectorMs };
}

/** Returns ids of anomalies that were opened and not resolved. */
function stillOpen(emitted: readonly AnomalyEvent[]): Set<string> {
  const open = new Set<string>();
  for (const { id, state } of emitted) {
    if (state === 'resolved') open.delete(id);
    else open.add(id);
  }
  return open;
}

function outcomeOf(emitted: readonly AnomalyEvent[], rivals: Rivals, source: SeriesSource) {
  const { faults } = source;
  const opened = emitted.filter(({ state }) => state === 'opened');
  const msOf = (window: number) => startMs + window * windowMs;
  const isOf = (fault: Fault, fromMs: number, toMs: number) =>
    fromMs < msOf(fault.to) + afterMs && toMs >= msOf(fault.from);
  const isLearning = (ms: number) => ms < msOf(learningDays * windowsPerDay);
  const belongs = (event: AnomalyEvent) => {
    const detectedMs = Date.parse(event.detected_at);
    return faults.find((fault) => isOf(fault, detectedMs, detectedMs));
  };
  const falsePages = opened
    .filter((event) => belongs(event) === undefined && !isLearning(Date.parse(event.detected_at)))
    .map(({ detected_at, summary }) => ({
      window: (Date.parse(detected_at) - startMs) / windowMs,
      summary,
    }));
  const rivalFalsePages = Object.fromEntries(
    rivalNames.map((name) => [
      name,
      rivals.pages[name].filter(
        ({ startedMs, lastMs }) =>
          !isLearning(startedMs) && !faults.some((fault) => isOf(fault, startedMs, lastMs)),
      ).length,
    ]),
  ) as Record<RivalName, number>;
  const outcomes = faults.map((fault): FaultOutcome => {
    const own = opened.filter((event) => belongs(event) === fault);
    const [first] = own;
    const foundAt = source.foundAt(fault);
    const delayMs = first && Date.parse(first.detected_at) - msOf(fault.from);
    const ids = new Set(own.map(({ id }) => id));
    return {
      kind: fault.kind,
      stage: fault.stage,
      isSmall: source.isSmall(fault),
      oracleWindows: foundAt < 0 ? undefined : foundAt - fault.from + 1,
      delayMs,
      blamed: first?.stage,
      pages: own.length,
      resolves: emitted.filter(({ id, state }) => ids.has(id) && state === 'resolved').length,
      rivals: Object.fromEntries(
        rivalNames.map((name) => [
          name,
          rivals.pages[name].some(({ startedMs, lastMs }) => isOf(fault, startedMs, lastMs)),
        ]),
      ) as Record<RivalName, boolean>,
    };
  });
  return { falsePages, rivalFalsePages, faults: outcomes };
}
