import { DailyRecord } from '../../baseline/recurrence/daily-maximum.ts';
import type { TrafficForecast } from '../../baseline/traffic-profile.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import type { DetectOptions } from '../options/detect-options.ts';
import type { TestLevels } from '../options/page-budget.ts';

/** What the test says when there has been no request for long. */
export interface SilenceVerdict {
  readonly startedAtMs: number;
  readonly gapMs: number;
  readonly expected: number;
  readonly logP: number;
  readonly logLevel: number;
}

const minuteMs = 60_000;
const weekMs = 7 * 86_400_000;
const dayMs = 86_400_000;
/** A gap is told that is so many times as long as the longest of two weeks. */
const longer = 3;
/** Until a day of windows was seen, shorter gaps than this may be usual. */
const youngGapMs = 5 * minuteMs;

/**
 * Judges whether requests have stopped: there has been none for `no_data_after`, for three times as long
 * as ever in two weeks, and for so long that many are foretold. Gaps are taken to have an exponential
 * tail of which the longest is known: of n windows none is expected to begin one of x times its length
 * but with n^-x.
 */
export class SilenceTest {
  readonly #options: DetectOptions;
  readonly #gaps = new DailyRecord();
  /** End of the last window with a request. */
  #lastMs = Number.NaN;
  #windows = 0;

  constructor(options: DetectOptions) {
    this.#options = options;
  }

  /** Nothing more is told until requests come again: that there are none is usual by now. */
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

  /** Takes a window. `isLearnt`: the gap that it ends, if it does, was not told as an anomaly. */
  observe(startMs: number, requests: number, isLearnt: boolean): void {
    const gapMs = requests > 0 && isLearnt ? this.#gapMs(startMs) : 0;
    this.#gaps.observe(startMs, gapMs);
    this.#windows += 1;
    if (requests > 0) this.#lastMs = startMs + this.#options.window;
  }

  /** A window in which nobody had a request: it makes no gap longer, as it is not about this one. */
  pause(): void {
    this.#lastMs += this.#options.window;
  }

  /** Time without a request up to then; 0 before the first one. */
  #gapMs(untilMs: number): number {
    return Number.isNaN(this.#lastMs) ? 0 : Math.max(0, untilMs - this.#lastMs);
  }

  /** The longest gap that was no anomaly; at least a window, as shorter ones are not seen. */
  get #longestMs(): number {
    return Math.max(this.#options.window, this.#gaps.highest);
  }

  /** Whether there has been no request up to then for longer than is usual, or none at all yet. */
  isSilent(untilMs: number): boolean {
    return Number.isNaN(this.#lastMs) || this.#gapMs(untilMs) > this.#longestMs;
  }

  /** Whether requests came without a longer pause than that, of late. */
  isSteady(mostMs: number): boolean {
    return this.#longestMs < mostMs;
  }

  /** @param leastMs a gap that says something, at least. */
  evaluate(
    untilMs: number,
    forecast: TrafficForecast,
    levels: TestLevels,
    leastMs: number,
  ): SilenceVerdict | undefined {
    const gapMs = this.#gapMs(untilMs);
    const { window, no_data_after, min_requests } = this.#options;
    const isYoung = this.#windows * window < dayMs;
    if (gapMs < Math.max(no_data_after, leastMs, isYoung ? youngGapMs : 0)) return undefined;
    const expected = (forecast.perSecond * gapMs) / 1000;
    const times = gapMs / this.#longestMs;
    const score = times * Math.log(Math.max(2, this.#gaps.count));
    const level = Math.log(weekMs / window / levels.perWeek);
    if (expected < min_requests || times < longer || score < level) return undefined;
    return { startedAtMs: this.#lastMs, gapMs, expected, logP: -score, logLevel: -level };
  }
}
