import { totalStage } from '../base/dimensions.ts';
import { invariant } from '../base/invariant.ts';
import { seriesKey, unversionedKey } from '../baseline/series-key.ts';
import type { Series, SeriesWindow } from '../baseline/series-window.ts';
import type { StageReference } from '../baseline/stage-baseline.ts';
import type { PeakPool } from '../baseline/tail-peaks.ts';
import { wholeRequest } from '../baseline/whole-request.ts';
import type { AnomalyEvent } from './anomaly-event.ts';
import type { DetectOptions } from './detect-options.ts';
import { eventSeries } from './event-series.ts';
import { pageBudget } from './page-budget.ts';
import { RateDetectors } from './rate-detectors.ts';
import { SeriesDetector } from './series-detector.ts';

/** More series than these are not judged: one of ten stages takes some 0.7 MB. */
const maxSeries = 2_000;

export interface DetectorStats {
  readonly series: number;
  readonly tests: number;
  /** False pages a week that one test may spend. */
  readonly perWeek: number;
  /** Windows of series beyond the limit, which were not judged, since the start. */
  readonly windowsBeyondLimit: number;
}

/**
 * Windows in, anomaly events out. Pure: the same windows, options and times give the same events.
 * All series of one window start come in one call, and calls come in order; a start at or before
 * the last one is ignored, so that a reader may send a window twice.
 *
 * To start anew: `restore` what the table has open, `warmUp` with history, oldest first, then
 * `observe`. The baseline comes back exactly after `historyMs` of windows; how restless a series is and how
 * far it goes is learnt anew.
 */
export class Detector {
  readonly #options: DetectOptions;
  readonly #series = new Map<string, SeriesDetector>();
  /** The newest series of each model, whatever its version: the next one begins with what it knows. */
  readonly #newest = new Map<string, SeriesDetector>();
  #lastStartMs = Number.NEGATIVE_INFINITY;
  #windowsBeyondLimit = 0;
  #perWeek = 0;
  /** Peaks of all series. */
  readonly #pool: PeakPool = { peaks: 0, excess: 0 };
  readonly #rates: RateDetectors;

  constructor(options: DetectOptions) {
    this.#options = options;
    this.#rates = new RateDetectors(
      options,
      (series) => this.#series.get(seriesKey(series))?.usual(totalStage)?.digest,
    );
  }

  /** How much history a restart should replay: the baseline of every window that taught the last. */
  get historyMs(): number {
    return 2 * this.#options.baseline;
  }

  get stats(): DetectorStats {
    return {
      series: this.#series.size,
      tests: this.#tests(),
      perWeek: this.#perWeek,
      windowsBeyondLimit: this.#windowsBeyondLimit,
    };
  }

  /** The last event of every anomaly that is open. */
  get open(): AnomalyEvent[] {
    const tails = [...this.#series.values()].flatMap((series) => series.openEvent ?? []);
    return [...tails, ...this.#rates.open];
  }

  /** What a stage of a series is compared with; undefined while too little of it was learnt. */
  reference(series: Series, stage: string): StageReference | undefined {
    return this.#series.get(seriesKey(series))?.reference(stage);
  }

  /** Takes over anomalies whose last event in the table is `opened` or `updated`. */
  restore(open: readonly AnomalyEvent[]): void {
    for (const event of open) {
      invariant(event.state !== 'resolved', `anomaly ${event.id} is resolved: nothing to restore`);
      const series = this.#of(eventSeries(event));
      if (event.kind === 'tail_shift') series?.restore(event);
      else this.#rates.restore(event);
    }
  }

  /** All series of one past window: learns and follows, tells nothing. */
  warmUp(windows: readonly SeriesWindow[]): void {
    const startMs = windows[0]?.windowStartMs;
    if (startMs === undefined) return;
    this.#step(windows, startMs, startMs + this.#options.window, false);
  }

  /**
   * All series of one window.
   *
   * @param windowStartMs to be given when no series had a request in the window.
   * @returns events ordered by series; each anomaly gives one `opened`, then one `resolved`.
   */
  observe(
    windows: readonly SeriesWindow[],
    nowMs: number,
    windowStartMs: number | undefined = windows[0]?.windowStartMs,
  ): AnomalyEvent[] {
    if (windowStartMs === undefined) return [];
    return this.#step(windows, windowStartMs, nowMs, true);
  }

  #step(
    windows: readonly SeriesWindow[],
    startMs: number,
    nowMs: number,
    live: boolean,
  ): AnomalyEvent[] {
    if (startMs <= this.#lastStartMs) return [];
    this.#lastStartMs = startMs;
    const present = new Map<string, SeriesWindow>();
    let totalRequests = 0;
    for (const window of windows) {
      invariant(
        window.windowStartMs === startMs && window.windowMs === this.#options.window,
        `a window of ${window.windowMs} ms at ${window.windowStartMs} came with those at ${startMs}`,
      );
      totalRequests += wholeRequest(window)?.requests ?? 0;
      const key = seriesKey(window.series);
      if (this.#of(window.series, key) === undefined) this.#windowsBeyondLimit += 1;
      else present.set(key, window);
    }
    const levels = pageBudget(this.#options.page_budget_per_week, this.#tests());
    this.#perWeek = levels.perWeek;
    const context = { nowMs, levels, totalRequests, live };
    const events: AnomalyEvent[] = [];
    for (const key of [...this.#series.keys()].sort()) {
      const series = this.#series.get(key) as SeriesDetector;
      const window = present.get(key);
      const event =
        window === undefined ? series.missing(startMs, context) : series.step(window, context);
      if (event !== undefined) events.push(event);
      if (window === undefined && this.#isForgettable(key, startMs)) this.#forget(key, series);
    }
    return [...events, ...this.#rates.step(present, startMs, context)];
  }

  /** undefined when the series is new and there is no room for it. */
  #of(series: Series, key: string = seriesKey(series)): SeriesDetector | undefined {
    let detector = this.#series.get(key);
    if (detector === undefined && this.#series.size < maxSeries) {
      const model = unversionedKey(series);
      detector = new SeriesDetector(series, this.#options, this.#pool, this.#newest.get(model));
      this.#series.set(key, detector);
      this.#newest.set(model, detector);
    }
    return detector;
  }

  #isForgettable(key: string, startMs: number): boolean {
    return this.#series.get(key)?.isForgettable(startMs) === true && !this.#rates.isOpen(key);
  }

  #forget(key: string, series: SeriesDetector): void {
    this.#series.delete(key);
    this.#rates.forget(key);
    const model = unversionedKey(series.series);
    if (this.#newest.get(model) === series) this.#newest.delete(model);
  }

  #tests(): number {
    let tests = this.#rates.testCount;
    for (const series of this.#series.values()) tests += series.testCount;
    return tests;
  }
}
