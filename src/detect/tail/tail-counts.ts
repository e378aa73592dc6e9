import { DurationKernel } from '../../baseline/durations/duration-kernel.ts';
import { Arena } from '../../memory/arena.ts';
import type { StageSummary } from '../../series/series-window.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import { type DetectOptions, longestRun } from '../options/detect-options.ts';
import type { TailThreshold } from './tail-threshold.ts';

const kernel = DurationKernel.shared();
const memory = Arena.shared();

/** With fewer requests in the tail usually, or exceedances seen, no number says anything. */
const minInTail = 1;
const minExceedances = 5;

/** Windows that are kept: a run, and the one before. */
const kept = longestRun + 1;
/**
 * What is kept of a window, in doubles. Counts are sums of all windows up to it, so that those of any run
 * are a difference.
 */
const REQUESTS = 0;
const FIRST_QUANTILE = 1;
/** Of a quantile: above it, as many as usually are, above its least effect, above half of that. */
const EXCEEDANCES = 0;
const EXPECTED = 1;
const BEYOND_EFFECT = 2;
const BEYOND_HALF = 3;
const perQuantile = 4;
/**
 * Starts of windows lie first; then how many windows were added, the sums, and the thresholds, as many as there are
 * of a quantile. kernel/duration-kernel.ts has the same places, and kernel/evidence-kernel.ts.
 */
const ADDED = kept;
const SUMS = kept + 1;

type CountedQuantiles = Pick<DetectOptions, 'quantiles'>;

/** A quantile, by its index, that has moved by what matters, over so many windows. */
export interface TailEffect {
  readonly windows: number;
  readonly quantile: number;
  /** Requests beyond the least effect, by as many as it takes. */
  readonly times: number;
}

export interface TailSums {
  readonly requests: number;
  readonly exceedances: number;
  readonly expected: number;
}

/**
 * How many requests of the last windows lie above the baseline's quantiles, and above what each must reach
 * to matter to people. What is likely and what is large are two questions: this is the second one.
 *
 * Memory: 31 windows of 10 doubles, at two quantiles. Cost: a third of a microsecond a window, by kernels;
 * that of evidence looks at it, too.
 */
export class TailCounts {
  /** Where it is kept. */
  readonly at: number;
  readonly #quantiles: number;
  readonly #width: number;

  /** @param at where it is kept, where somebody else has room for it: `TailCounts.doubles`, all 0. */
  constructor(options: CountedQuantiles, at?: number) {
    this.#quantiles = options.quantiles.length;
    this.#width = widthOf(options);
    this.at = at ?? memory.allocateFor(this, TailCounts.doubles(options));
    this.#starts().fill(Number.NEGATIVE_INFINITY);
  }

  /** What one takes. */
  static doubles(options: CountedQuantiles): number {
    return SUMS + kept * widthOf(options) + perQuantile * options.quantiles.length;
  }

  /** Takes a window, to counts that are kept there, of so many quantiles. */
  static add(at: number, quantiles: number, startMs: number, summary: StageSummary): void {
    kernel.count(summary.digest, at, quantiles, summary.requests, startMs);
  }

  /** Counts are of these from now on: of each quantile, in order. */
  compareWith(thresholds: readonly TailThreshold[]): void {
    const all = memory.doubles;
    let at = this.at + SUMS + kept * this.#width;
    for (const { baselineMs, baselineShare, effectMs, halfEffectMs } of thresholds) {
      all[at] = baselineMs;
      all[at + 1] = baselineShare;
      all[at + 2] = effectMs;
      all[at + 3] = halfEffectMs;
      at += perQuantile;
    }
  }

  /** Of the last so many windows. */
  sums(quantile: number, windows: number): TailSums {
    const from = fromOf(quantile);
    return {
      requests: this.#sum(windows, REQUESTS),
      exceedances: this.#sum(windows, from + EXCEEDANCES),
      expected: this.#sum(windows, from + EXPECTED),
    };
  }

  /**
   * Most of the last windows, at most so many, in which a quantile has reached its effect, as it has in
   * the last `shown` of them; and which one has by most.
   */
  effect(most: number, shown: number): TailEffect | undefined {
    let found: TailEffect | undefined;
    let clearest = 0;
    for (let windows = most; windows >= 1 && found === undefined; windows--) {
      for (let quantile = 0; quantile < this.#quantiles; quantile++) {
        if (!this.#shows(quantile, windows, Math.min(windows, shown))) continue;
        const by = this.#times(quantile, windows);
        if (by > clearest) {
          clearest = by;
          found = { windows, quantile, times: by };
        }
      }
    }
    return found;
  }

  /** Whether a quantile has reached half of its effect in the last windows. */
  showsHalf(windows: number): boolean {
    for (let quantile = 0; quantile < this.#quantiles; quantile++) {
      const from = fromOf(quantile);
      if (this.#sum(windows, from + BEYOND_HALF) >= this.#sum(windows, from + EXPECTED))
        return true;
    }
    return false;
  }

  /** How many of the last windows show an effect, each by itself. */
  lasting(windows: number): number {
    let shown = 0;
    for (let back = 0; back < Math.min(windows, this.#added); back++) {
      let shows = false;
      for (let quantile = 0; quantile < this.#quantiles; quantile++) {
        const from = fromOf(quantile);
        shows ||= this.#of(back, from + BEYOND_EFFECT) >= this.#of(back, from + EXPECTED);
      }
      if (shows) shown++;
    }
    return shown;
  }

  /** Start of the first of the last windows that had more above the quantile than is usual. */
  startOfExcess(quantile: number, windows: number): number {
    const from = fromOf(quantile);
    let back = windows - 1;
    while (back > 0 && this.#of(back, from + EXCEEDANCES) <= this.#of(back, from + EXPECTED))
      back--;
    return this.#startOf(back + 1);
  }

  serialize(state: StateArchive): void {
    state.section('tail counts', 1, () => {
      const at = this.at + SUMS;
      state.fill(memory.doubles.subarray(at, at + kept * this.#width));
      state.fill(this.#starts());
      const { doubles } = memory;
      doubles[this.at + ADDED] = state.number(this.#added);
    });
  }

  #shows(quantile: number, windows: number, shown: number): boolean {
    const from = fromOf(quantile);
    const inTail = this.#sum(windows, from + EXPECTED);
    return (
      inTail >= minInTail &&
      this.#sum(windows, from + EXCEEDANCES) >= minExceedances &&
      this.#sum(windows, from + BEYOND_EFFECT) >= inTail &&
      this.#sum(shown, from + BEYOND_EFFECT) >= this.#sum(shown, from + EXPECTED) &&
      this.#of(0, from + EXCEEDANCES) > this.#of(0, from + EXPECTED)
    );
  }

  #times(quantile: number, windows: number): number {
    const from = fromOf(quantile);
    return this.#sum(windows, from + BEYOND_EFFECT) / this.#sum(windows, from + EXPECTED);
  }

  /** Of the last so many windows together. */
  #sum(windows: number, i: number): number {
    const all = memory.doubles;
    const at = this.at + SUMS + i;
    const last = all[at + this.#placeOf(1)] as number;
    return last - (all[at + this.#placeOf(windows + 1)] as number);
  }

  /** Of the window `back` before the last one. */
  #of(back: number, i: number): number {
    return this.#sum(back + 1, i) - this.#sum(back, i);
  }

  get #added(): number {
    return memory.doubles[this.at + ADDED] as number;
  }

  /** Place of the window that is so many before the next one. */
  #placeOf(back: number): number {
    return ((this.#added + kept - back) % kept) * this.#width;
  }

  #startOf(back: number): number {
    return memory.doubles[this.at + ((this.#added + kept - back) % kept)] as number;
  }

  #starts(): Float64Array {
    return memory.doubles.subarray(this.at, this.at + kept);
  }
}

function widthOf({ quantiles }: CountedQuantiles): number {
  return FIRST_QUANTILE + perQuantile * quantiles.length;
}

/** Where a quantile's counts begin in a window. */
function fromOf(quantile: number): number {
  return FIRST_QUANTILE + perQuantile * quantile;
}
