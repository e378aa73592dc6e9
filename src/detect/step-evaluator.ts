import { totalStage } from '../base/dimensions.ts';
import { invariant } from '../base/invariant.ts';
import type { AnomalyEvent } from '../contract/anomaly-event.ts';
import { seriesKey } from '../series/series-key.ts';
import type { Series, SeriesWindow } from '../series/series-window.ts';
import { wholeRequest } from '../series/whole-request.ts';
import type { StateArchive } from '../snapshot/archive.ts';
import { SeriesSlots } from './admission/series-slots.ts';
import type { DriftDetectors } from './drift/drift-detectors.ts';
import { KnownHistory } from './known-history.ts';
import type { DetectOptions } from './options/detect-options.ts';
import type {
  DetectorStep,
  PresentAnomaly,
  SeriesEvents,
  StepContext,
} from './options/detector-step.ts';
import { pageBudget, type TestLevels } from './options/page-budget.ts';
import { blockOf } from './options/sharing-block.ts';
import type { RateDetectors } from './rate-detectors.ts';
import { SeriesOrder } from './series-order.ts';
import type { SeriesDetector } from './tail/series-detector.ts';
import type { SeriesDetectors } from './tail/series-detectors.ts';

/** All series of one window start, and when they are evaluated. */
export interface StepInput {
  readonly startMs: number;
  readonly nowMs: number;
  readonly windows: readonly SeriesWindow[];
  /** True if the windows have all of the traffic. @default {true} */
  readonly hasAllTraffic?: boolean;
}

/** Events of the series and models of a step, in the order in which they are grouped. */
export interface EvaluatedStep extends Pick<StepInput, 'startMs' | 'nowMs'> {
  readonly events: readonly AnomalyEvent[];
  /** As `StepContext.present`. */
  readonly present: ReadonlyMap<string, PresentAnomaly>;
}

/**
 * Passes steps through the tests. Series share state (heights of peaks, number of tests, list of series) once
 * a block of two minutes, so that their order within a block does not matter. Where several windows wait,
 * each series evaluates all windows of a block in turn, which keeps its state in the CPU's cache. Both ways
 * emit the same events.
 */
export class StepEvaluator {
  readonly #options: DetectOptions;
  readonly #series: SeriesDetectors;
  readonly #rates: RateDetectors;
  readonly #drifts: DriftDetectors;
  readonly #order = new SeriesOrder();
  readonly #history: KnownHistory;
  #lastStartMs = Number.NEGATIVE_INFINITY;
  /** Block at whose start series shared their state last, and the levels of tests in it. */
  #block = Number.NaN;
  #levels: TestLevels = { perWeek: 0 };
  readonly #slots: SeriesSlots;
  #windowsBeyondLimit = 0;
  #windowsEvaluated = 0;

  constructor(
    options: DetectOptions,
    series: SeriesDetectors,
    rates: RateDetectors,
    drifts: DriftDetectors,
  ) {
    this.#options = options;
    this.#series = series;
    this.#rates = rates;
    this.#drifts = drifts;
    this.#history = new KnownHistory(options.baseline);
    this.#slots = new SeriesSlots(series, options, {
      isOpen: (key) => series.get(key)?.isOpen === true || rates.isOpen(key),
      evict: (key) => this.#drop(key),
    });
  }

  get lastStartMs(): number {
    return this.#lastStartMs;
  }

  /** As `DetectorStats`. */
  get stats() {
    return {
      isCrowded: this.#slots.isCrowded,
      seriesNotEvaluated: this.#slots.notEvaluated,
      windowsEvaluated: this.#windowsEvaluated,
      tests: this.testCount,
      perWeek: this.#levels.perWeek,
      windowsBeyondLimit: this.#windowsBeyondLimit + this.#rates.slos.windowsBeyondLimit,
      shortHistory: this.#shortHistory,
    };
  }

  get #shortHistory() {
    const fromMs = this.#history.shortFromMs(this.#lastStartMs);
    return fromMs === undefined ? undefined : { fromMs, untilMs: this.#history.shortUntilMs };
  }

  /** As `Detector.truncateHistory`. */
  truncateHistory(fromMs: number): void {
    this.#history.truncate(fromMs);
  }

  /** Tests that share the budget of false pages. */
  get testCount(): number {
    return this.#rates.testCount + this.#series.testCount;
  }

  /** True if a series of a coming window is needed with all its stages: see `SeriesSlots`. */
  isWanted(series: Series, startMs: number): boolean {
    return this.#slots.isWanted(series, blockOf(startMs));
  }

  serialize(state: StateArchive): void {
    this.#lastStartMs = state.number(this.#lastStartMs);
    this.#block = state.number(this.#block);
    this.#levels = { perWeek: state.number(this.#levels.perWeek) };
    this.#windowsBeyondLimit = state.number(this.#windowsBeyondLimit);
    this.#history.serialize(state);
    this.#slots.serialize(state);
  }

  /**
   * Evaluates steps in order of time; a step at or before the last one is ignored. The caller handles the
   * events of a step before it asks for the next.
   */
  *evaluate(steps: readonly StepInput[], live: boolean): Generator<EvaluatedStep, void> {
    for (let at = 0; at < steps.length; ) {
      const block = this.#begin(steps, at, live);
      if (block.length > 0) yield* this.#evaluateBlock(block);
      at += Math.max(1, block.length);
    }
  }

  /**
   * The step at an index, and those after it that may be evaluated with it: of the same block, without a new
   * series and without one that starts from another's baseline. Empty where that step was evaluated before.
   */
  #begin(steps: readonly StepInput[], at: number, live: boolean): DetectorStep[] {
    const begun: DetectorStep[] = [];
    for (let next = steps[at]; next !== undefined; next = steps[at + begun.length]) {
      const { startMs, windows } = next;
      if (startMs <= this.#lastStartMs) break;
      const keys = this.#order.keysOf(windows);
      const isFirst = begun.length === 0;
      const block = blockOf(startMs);
      if (!isFirst && (block !== this.#block || !this.#areIndependent(windows, keys))) break;
      const isNew = block !== this.#block;
      this.#series.beginStep(startMs);
      if (isNew) {
        this.#slots.turn(block);
        this.#forget(keys, startMs);
      }
      const present = this.#present(next, keys);
      if (isFirst) {
        this.#rates.register(present, this.#series.size);
        this.#drifts.register(present);
      }
      if (isNew) this.#publishShared(startMs, block);
      this.#lastStartMs = startMs;
      begun.push({ startMs, context: this.#contextOf(next, live), present, offered: windows });
      if (isFirst && !this.#areIndependent(windows, keys)) break;
    }
    return begun;
  }

  /** True if the order of these series does not matter. Series without a slot do not count. */
  #areIndependent(windows: readonly SeriesWindow[], keys: readonly string[]): boolean {
    return keys.every((key, i) => {
      const series = this.#series.get(key);
      if (series === undefined) {
        return !this.#slots.wouldAdmit((windows[i] as SeriesWindow).series, key);
      }
      return series.before === undefined && this.#rates.has(key) && this.#drifts.isRegistered(key);
    });
  }

  /** Forgets series without data, and without an open anomaly. */
  #forget(keys: readonly string[], startMs: number): void {
    const present = new Set(keys);
    for (const key of [...this.#series.keys]) {
      if (present.has(key) || this.#rates.isOpen(key)) continue;
      if (this.#series.get(key)?.isForgettable(startMs) !== true) continue;
      this.#drop(key);
    }
  }

  #drop(key: string): void {
    this.#series.forget(key);
    this.#drifts.forget(key);
    this.#rates.forget(key);
    this.#slots.forget(key);
  }

  /** Windows of series with a slot, by key. */
  #present({ startMs, windows }: StepInput, keys: readonly string[]): Map<string, SeriesWindow> {
    for (const { windowStartMs, windowMs } of windows) {
      if (windowStartMs === startMs && windowMs === this.#options.window) continue;
      const what = `a window of ${windowMs} ms at ${windowStartMs}`;
      invariant(false, `${what} came with those at ${startMs}`);
    }
    const present = this.#slots.admit(windows, keys);
    this.#windowsBeyondLimit += windows.length - present.size;
    this.#windowsEvaluated += present.size;
    return present;
  }

  #publishShared(startMs: number, block: number): void {
    this.#block = block;
    this.#series.publishShared(startMs);
    this.#rates.publishShared();
    this.#drifts.publishShared();
    this.#levels = pageBudget(this.#options.page_budget_per_week, this.testCount);
  }

  #evaluateBlock(steps: readonly DetectorStep[]): EvaluatedStep[] {
    const ofSeries: SeriesEvents[] = [];
    const advanceSeries = (end: number) => {
      const left = steps.slice(ofSeries.length, end);
      if (left.length > 0) ofSeries.push(...this.#evaluateSeries(left));
    };
    // Models come first. An event of theirs shows the series' baselines as of its step, so that series are
    // evaluated up to that step before they are asked, and no further.
    const ofModels = steps.map((step, at) =>
      this.#rates.evaluate(step, (series) => {
        advanceSeries(at + 1);
        return this.#baselineOf(series);
      }),
    );
    advanceSeries(steps.length);
    return steps.map((step, at) => {
      const own = ofSeries[at] as SeriesEvents;
      const rates = [...own.failures, ...(ofModels[at] as AnomalyEvent[])].sort(byDedupKey);
      const events = [...own.tails, ...rates, ...this.#drifts.evaluate(step, own)];
      const { nowMs, present = new Map() } = step.context;
      return { startMs: step.startMs, nowMs, events, present };
    });
  }

  #contextOf(
    { startMs, nowMs, windows, hasAllTraffic = true }: StepInput,
    live: boolean,
  ): StepContext {
    return {
      ...{ nowMs, levels: this.#levels, live, hasAllTraffic },
      ...(live && { present: new Map() }),
      historyFromMs: this.#history.shortFromMs(startMs),
      // Computed only where an event is made.
      get totalRequests() {
        return windows.reduce((sum, window) => sum + (wholeRequest(window)?.requests ?? 0), 0);
      },
    };
  }

  /** Evaluates all steps of a series, then those of the next. */
  #evaluateSeries(steps: readonly DetectorStep[]): SeriesEvents[] {
    const results = steps.map((step) => ({
      step,
      tails: [] as AnomalyEvent[],
      failures: [] as AnomalyEvent[],
      drifts: [] as AnomalyEvent[],
      openKeys: new Set<string>(),
    }));
    const baselineOf = (series: Series) => this.#baselineOf(series);
    for (const key of this.#series.sortedKeys) {
      const series = this.#series.get(key) as SeriesDetector;
      for (const { step, tails, failures, drifts, openKeys } of results) {
        const window = step.present.get(key);
        const ofTail = this.#series.step(series, window, step.startMs, step.context);
        const failure = this.#rates.evaluateSeries(key, window, step, baselineOf);
        const isOpen = window !== undefined && series.isOpen;
        const drift = this.#drifts.evaluateSeries(key, window, step, isOpen, ofTail);
        tails.push(...ofTail);
        if (failure !== undefined) failures.push(failure);
        if (drift !== undefined) drifts.push(drift);
        if (isOpen) openKeys.add(key);
      }
    }
    return results;
  }

  #baselineOf(series: Series) {
    return this.#series.get(seriesKey(series))?.baseline(totalStage)?.digest;
  }
}

function byDedupKey(a: AnomalyEvent, b: AnomalyEvent): number {
  return a.dedup_key < b.dedup_key ? -1 : 1;
}
