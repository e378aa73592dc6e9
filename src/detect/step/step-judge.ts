import { totalStage } from '../../base/dimensions.ts';
import { invariant } from '../../base/invariant.ts';
import { seriesKey } from '../../series/series-key.ts';
import type { Series, SeriesWindow } from '../../series/series-window.ts';
import { wholeRequest } from '../../series/whole-request.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import { SeriesPlaces } from '../admission/series-slots.ts';
import type { DriftDetectors } from '../drift/drift-detectors.ts';
import type { AnomalyEvent } from '../event/anomaly-event.ts';
import type { DetectOptions } from '../options/detect-options.ts';
import { pageBudget, type TestLevels } from '../options/page-budget.ts';
import type { RateDetectors } from '../rate-detectors.ts';
import type { SeriesDetector } from '../tail/series-detector.ts';
import type { SeriesDetectors } from '../tail/series-detectors.ts';
import type { DetectorStep, StepContext } from './detector-step.ts';
import { blockOf } from './sharing-block.ts';

/** All series of one window start, and when they are judged. */
export interface StepInput {
  readonly startMs: number;
  readonly nowMs: number;
  readonly windows: readonly SeriesWindow[];
  /** Whether all of the traffic is in the windows. @default {true} */
  readonly isWhole?: boolean;
}

/** What series and models tell of a step, in the order in which incidents are made of it. */
export interface JudgedStep {
  readonly startMs: number;
  readonly nowMs: number;
  readonly events: readonly AnomalyEvent[];
}

/** Whose steps they are. */
export interface Detectors {
  readonly series: SeriesDetectors;
  readonly rates: RateDetectors;
  readonly drifts: DriftDetectors;
}

/**
 * Takes steps through the tests. What series know of each other (how far peaks go, how many tests share the
 * budget, which series there are) is as of the begin of a block of two minutes. So it does not matter which of
 * them is judged first, and where several windows are at hand each series judges those of a block in turn: of
 * many series nothing stays in a cache from one window to the next. What is told is the same either way.
 */
export class StepJudge {
  readonly #options: DetectOptions;
  readonly #series: SeriesDetectors;
  readonly #rates: RateDetectors;
  readonly #drifts: DriftDetectors;
  #lastStartMs = Number.NEGATIVE_INFINITY;
  /** The block as of whose begin series know of each other, and the levels of tests in it. */
  #block = Number.NaN;
  #levels: TestLevels = { perWeek: 0 };
  readonly #places: SeriesPlaces;
  #windowsBeyondLimit = 0;
  #windowsJudged = 0;

  constructor(options: DetectOptions, { series, rates, drifts }: Detectors) {
    this.#options = options;
    this.#series = series;
    this.#rates = rates;
    this.#drifts = drifts;
    this.#places = new SeriesPlaces(series, options, {
      isOpen: (key) => series.get(key)?.isOpen === true || rates.isOpen(key),
      evict: (key) => this.#drop(key),
    });
  }

  get lastStartMs(): number {
    return this.#lastStartMs;
  }

  get levels(): TestLevels {
    return this.#levels;
  }

  /** Which series are judged. */
  get places(): SeriesPlaces {
    return this.#places;
  }

  /** Windows of series that were judged, by this one. */
  get windowsJudged(): number {
    return this.#windowsJudged;
  }

  /** Windows of series beyond the limit, which were not judged, since the start. */
  get windowsBeyondLimit(): number {
    return this.#windowsBeyondLimit;
  }

  /** Tests that share the budget of false pages. */
  get testCount(): number {
    return this.#rates.testCount + this.#series.testCount;
  }

  /** Whether a series of a window that comes next is needed with all its stages: see `SeriesPlaces`. */
  isWanted(series: Series, startMs: number): boolean {
    return this.#places.isWanted(series, blockOf(startMs));
  }

  serialize(state: StateArchive): void {
    this.#lastStartMs = state.number(this.#lastStartMs);
    this.#block = state.number(this.#block);
    this.#levels = { perWeek: state.number(this.#levels.perWeek) };
    this.#windowsBeyondLimit = state.number(this.#windowsBeyondLimit);
    this.#places.serialize(state);
  }

  /**
   * Judges steps, which come in order; one at or before the last is ignored. What a step tells is to be dealt
   * with before the next one is asked for.
   */
  *evaluate(steps: readonly StepInput[], live: boolean): Generator<JudgedStep, void> {
    for (let at = 0; at < steps.length; ) {
      const block = this.#begin(steps, at, live);
      if (block.length > 0) yield* this.#judgeBlock(block);
      at += Math.max(1, block.length);
    }
  }

  /**
   * The step at a place, and those after it that may be judged with it: of the same block, with no series that
   * is new, or begins with what another one knows. None where that step was judged.
   */
  #begin(steps: readonly StepInput[], at: number, live: boolean): DetectorStep[] {
    const begun: DetectorStep[] = [];
    for (let next = steps[at]; next !== undefined; next = steps[at + begun.length]) {
      const { startMs, windows } = next;
      if (startMs <= this.#lastStartMs) break;
      const keys = this.#series.keysOf(windows);
      const isFirst = begun.length === 0;
      const block = blockOf(startMs);
      if (!isFirst && (block !== this.#block || !this.#areSettled(windows, keys))) break;
      const isNew = block !== this.#block;
      this.#series.beginStep(startMs);
      if (isNew) this.#places.turn(block);
      if (isNew) this.#forget(keys, startMs);
      const present = this.#present(next, keys);
      if (isFirst) this.#register(present);
      if (isNew) this.#publishShared(startMs, block);
      this.#lastStartMs = startMs;
      const emitted = { tails: [], failures: [], drifts: [], openKeys: new Set<string>() };
      begun.push({
        startMs,
        context: this.#contextOf(next, live),
        present,
        offered: windows,
        ...emitted,
      });
      if (isFirst && !this.#areSettled(windows, keys)) break;
    }
    return begun;
  }

  /** Whether it does not matter which of these series is judged first, those aside that there is no room for. */
  #areSettled(windows: readonly SeriesWindow[], keys: readonly string[]): boolean {
    return keys.every((key, i) => {
      const series = this.#series.get(key);
      if (series === undefined) {
        return !this.#places.wouldAdmit((windows[i] as SeriesWindow).series, key);
      }
      return series.before === undefined && this.#rates.has(key) && this.#drifts.has(key);
    });
  }

  /** Forgets series of which there is nothing left. */
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
    this.#places.forget(key);
  }

  /** The windows of series by their keys, but of those that there is no room for. */
  #present({ startMs, windows }: StepInput, keys: readonly string[]): Map<string, SeriesWindow> {
    for (const { windowStartMs, windowMs } of windows) {
      if (windowStartMs === startMs && windowMs === this.#options.window) continue;
      const what = `a window of ${windowMs} ms at ${windowStartMs}`;
      invariant(false, `${what} came with those at ${startMs}`);
    }
    const present = this.#places.admit(windows, keys);
    this.#windowsBeyondLimit += windows.length - present.size;
    this.#windowsJudged += present.size;
    return present;
  }

  #register(present: ReadonlyMap<string, SeriesWindow>): void {
    this.#rates.register(present, this.#series.size);
    this.#drifts.register(present);
  }

  /** What series know of each other is as of now. */
  #publishShared(startMs: number, block: number): void {
    this.#block = block;
    this.#series.publishShared(startMs);
    this.#rates.publishShared();
    this.#drifts.publishShared();
    this.#levels = pageBudget(this.#options.page_budget_per_week, this.testCount);
  }

  #judgeBlock(steps: readonly DetectorStep[]): JudgedStep[] {
    let judged = 0;
    const judgeUntil = (end: number) => {
      if (end > judged) this.#judgeSeries(steps.slice(judged, end));
      judged = Math.max(judged, end);
    };
    // What is of several series comes first: where it tells of something, series are to be as far, and no further.
    const others = steps.map((step, at) =>
      this.#rates.evaluate(step, (series) => {
        judgeUntil(at + 1);
        return this.#baselineOf(series);
      }),
    );
    judgeUntil(steps.length);
    return steps.map((step, at) => {
      const rates = [...step.failures, ...(others[at] as AnomalyEvent[])].sort(byDedupKey);
      const events = [...step.tails, ...rates, ...this.#drifts.evaluate(step)];
      return { startMs: step.startMs, nowMs: step.context.nowMs, events };
    });
  }

  #contextOf({ nowMs, windows, isWhole = true }: StepInput, live: boolean): StepContext {
    return {
      ...{ nowMs, levels: this.#levels, live, isWhole },
      // Asked for only where something is told.
      get totalRequests() {
        return windows.reduce((sum, window) => sum + (wholeRequest(window)?.requests ?? 0), 0);
      },
    };
  }

  /** What is of one series alone: all steps of a series, then those of the next. */
  #judgeSeries(steps: readonly DetectorStep[]): void {
    const baselineOf = (series: Series) => this.#baselineOf(series);
    for (const key of this.#series.sortedKeys) {
      const series = this.#series.get(key) as SeriesDetector;
      for (const step of steps) {
        const { startMs, context, present } = step;
        const window = present.get(key);
        const tail = this.#series.step(series, window, startMs, context);
        const failure = this.#rates.judgeSeries(key, window, step, baselineOf);
        const isOpen = window !== undefined && series.isOpen;
        const drift = this.#drifts.judgeSeries(key, window, step, isOpen, tail);
        if (tail !== undefined) step.tails.push(tail);
        if (failure !== undefined) step.failures.push(failure);
        if (drift !== undefined) step.drifts.push(drift);
        if (isOpen) step.openKeys.add(key);
      }
    }
  }

  #baselineOf(series: Series) {
    return this.#series.get(seriesKey(series))?.baseline(totalStage)?.digest;
  }
}

function byDedupKey(a: AnomalyEvent, b: AnomalyEvent): number {
  return a.dedup_key < b.dedup_key ? -1 : 1;
}
