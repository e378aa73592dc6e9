import { dayMs, weekMs } from '../../base/time.ts';
import { DailyMaximum } from '../../baseline/recurrence/daily-maximum.ts';
import type { TrafficForecast } from '../../baseline/traffic-profile.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import type { DetectOptions } from '../options/detect-options.ts';
import type { TestLevels } from '../options/page-budget.ts';

/** Result of the test after a long gap. */
export interface SilenceVerdict {
  readonly startedAtMs: number;
  readonly gapMs: number;
  readonly expected: number;
  readonly logP: number;
  readonly logAlpha: number;
}

/** Length of an anomalous gap, in multiples of the longest one of two weeks. */
const gapFactor = 3;
/** Shortest anomalous gap until a day of windows was seen. */
const youngGapMs = 5 * 60_000;

/**
 * Tests whether requests have stopped. The gap must reach `no_data_after` and three times the longest gap
 * of two weeks, and many requests must be forecast for it. The tail of gaps is modelled as exponential:
 * after n windows, a gap of x times the longest one has probability n^-x.
 */
export class SilenceTest {
  readonly #options: DetectOptions;
  readonly #gaps = new DailyMaximum();
  /** End of the last window with a request. */
  #lastMs = Number.NaN;
  #windows = 0;

  constructor(options: DetectOptions) {
    this.#options = options;
  }

  /** Makes the silence the baseline: nothing is detected until requests return. */
  rebaseline(): void {
    this.#lastMs = Number.NaN;
  }

  serialize(state: StateArchive): void {
    state.section('silence test', 1, () => {
      this.#gaps.serialize(state);
      this.#lastMs = state.number(this.#lastMs);
      this.#windows = state.number(this.#windows);
    });
  }

  /** Observes a window; `isLearnable` is false if the gap before it is part of an anomaly. */
  observe(startMs: number, requests: number, isLearnable: boolean): void {
    const gapMs = requests > 0 && isLearnable ? this.#gapMs(startMs) : 0;
    this.#gaps.observe(startMs, gapMs);
    this.#windows += 1;
    if (requests > 0) this.#lastMs = startMs + this.#options.window;
  }

  /** Skips a window in which no model had a request: it does not extend the gap. */
  pause(): void {
    this.#lastMs += this.#options.window;
  }

  /** Time without a request until `untilMs`; 0 before the first request. */
  #gapMs(untilMs: number): number {
    return Number.isNaN(this.#lastMs) ? 0 : Math.max(0, untilMs - this.#lastMs);
  }

  /** Longest learnt gap; at least a window, as shorter ones are not seen. */
  get #longestMs(): number {
    return Math.max(this.#options.window, this.#gaps.highest);
  }

  /** Reports whether the gap exceeds all learnt ones, or no request came yet. */
  isSilent(untilMs: number): boolean {
    return Number.isNaN(this.#lastMs) || this.#gapMs(untilMs) > this.#longestMs;
  }

  /** Reports whether all learnt gaps are shorter than `maxGapMs`. */
  isSteady(maxGapMs: number): boolean {
    return this.#longestMs < maxGapMs;
  }

  /** @param minGapMs shortest gap that is evaluated. */
  evaluate(
    untilMs: number,
    forecast: TrafficForecast,
    levels: TestLevels,
    minGapMs: number,
  ): SilenceVerdict | undefined {
    const gapMs = this.#gapMs(untilMs);
    const { window, no_data_after, min_requests } = this.#options;
    const isYoung = this.#windows * window < dayMs;
    if (gapMs < Math.max(no_data_after, minGapMs, isYoung ? youngGapMs : 0)) return undefined;
    const expected = (forecast.perSecond * gapMs) / 1000;
    const times = gapMs / this.#longestMs;
    const score = times * Math.log(Math.max(2, this.#gaps.count));
    const level = Math.log(weekMs / window / levels.perWeek);
    if (expected < min_requests || times < gapFactor || score < level) return undefined;
    return { startedAtMs: this.#lastMs, gapMs, expected, logP: -score, logAlpha: -level };
  }
}
