import { dayMs } from '../../base/time.ts';
import { durationKernel } from '../../baseline/durations/duration-kernel.ts';
import type { StageReference } from '../../baseline/series-reference.ts';
import { Arena } from '../../memory/arena.ts';
import type { StageSummary } from '../../series/series-window.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import { type DetectOptions, longestRun, pauseFactor } from '../options/detect-options.ts';
import { logExceedanceTail } from '../stats/exceedance-tail.ts';
import type { TailThreshold } from './tail-threshold.ts';

const memory = Arena.shared();

/** Expected and observed exceedances below which counts are not significant. */
const minInTail = 1;
const minExceedances = 5;

/**
 * Part of the baseline's time that windows with requests fill, below which they are mostly apart; and baseline
 * distances of two such windows that are no gap between them.
 */
const sparse = { fill: 1 / 2, distances: 2 } as const;
/** Windows kept: a run, and the one before. */
const kept = longestRun + 1;
/** Fields of a window, in doubles. They are cumulative: counts of a run are a difference of two windows. */
const REQUESTS = 0;
const FIRST_QUANTILE = 1;
/** Fields of a quantile: requests above it, expected ones, those above its least effect and half of it. */
const EXCEEDANCES = 0;
const EXPECTED = 1;
const BEYOND_EFFECT = 2;
const BEYOND_HALF = 3;
const perQuantile = 4;
/**
 * Offsets: starts of the windows come first, then the number of windows added, the sums, and each quantile's
 * thresholds. kernel/duration-kernel.ts and kernel/evidence-kernel.ts use the same ones.
 */
const ADDED = kept;
const SUMS = kept + 1;

type CountedQuantiles = Pick<DetectOptions, 'quantiles'>;

/** Effect at a quantile, given by its index, over the last windows. */
export interface TailEffect {
  readonly windows: number;
  readonly quantile: number;
  /** Requests beyond the least effect, relative to the expected exceedances. */
  readonly times: number;
}

export interface TailSums {
  readonly requests: number;
  readonly exceedances: number;
  readonly expected: number;
}

/**
 * Counts of the last windows' requests above the baseline's quantiles and above each quantile's least effect.
 * They measure the size of a shift; its significance is measured elsewhere.
 *
 * Memory: 31 windows of 10 doubles, at two quantiles. Cost: a third of a microsecond a window, by kernels.
 * The evidence kernel reads the counts, too.
 */
export class TailCounts {
  /** Offset in the arena. */
  readonly at: number;
  readonly #quantiles: number;
  readonly #width: number;

  /** @param at offset in the arena, if the caller has allocated it: `TailCounts.doubles`, all 0. */
  constructor(options: CountedQuantiles, at?: number) {
    this.#quantiles = options.quantiles.length;
    this.#width = widthOf(options);
    this.at = at ?? memory.allocateFor(this, TailCounts.doubles(options));
    this.#starts().fill(Number.NEGATIVE_INFINITY);
  }

  /** Size in doubles. */
  static doubles(options: CountedQuantiles): number {
    return SUMS + kept * widthOf(options) + perQuantile * options.quantiles.length;
  }

  /** Adds a window to the counts at an offset. */
  static add(at: number, quantiles: number, startMs: number, summary: StageSummary): void {
    durationKernel.count(summary.digest, at, quantiles, summary.requests, startMs);
  }

  /** Sets the thresholds of later windows, in the order of the quantiles. */
  compareWith(thresholds: readonly TailThreshold[]): void {
    const values = thresholds.flatMap((one) => {
      return [one.baselineMs, one.baselineShare, one.effectMs, one.halfEffectMs];
    });
    memory.doubles.set(values, this.at + SUMS + kept * this.#width);
  }

  sums(quantile: number, windows: number): TailSums {
    const from = fromOf(quantile);
    return {
      requests: this.#sum(windows, REQUESTS),
      exceedances: this.#sum(windows, from + EXCEEDANCES),
      expected: this.#sum(windows, from + EXPECTED),
    };
  }

  /**
   * Finds the longest run of the last windows, at most `maxWindows`, over which a quantile has reached its
   * effect, as over the last `shown` of them. Of several quantiles it is the one with the largest effect.
   */
  effect(maxWindows: number, shown: number): TailEffect | undefined {
    let found: TailEffect | undefined;
    for (let windows = maxWindows; windows >= 1 && found === undefined; windows--) {
      for (let quantile = 0; quantile < this.#quantiles; quantile++) {
        if (!this.#shows(quantile, windows, Math.min(windows, shown))) continue;
        const from = fromOf(quantile);
        const beyond = this.#sum(windows, from + BEYOND_EFFECT);
        const times = beyond / this.#sum(windows, from + EXPECTED);
        if (times > (found?.times ?? 0)) found = { windows, quantile, times };
      }
    }
    return found;
  }

  /** True where a quantile has reached half of its effect over the last windows. */
  showsHalf(windows: number): boolean {
    for (let quantile = 0; quantile < this.#quantiles; quantile++) {
      const from = fromOf(quantile);
      if (this.#sum(windows, from + BEYOND_HALF) >= this.#sum(windows, from + EXPECTED))
        return true;
    }
    return false;
  }

  /** Number of the last windows of which each alone shows an effect. */
  lasting(windows: number): number {
    let shown = 0;
    for (let back = 0; back < Math.min(windows, this.#windowsAdded); back++) {
      let shows = false;
      for (let quantile = 0; quantile < this.#quantiles; quantile++) {
        const from = fromOf(quantile);
        shows ||= this.#of(back, from + BEYOND_EFFECT) >= this.#of(back, from + EXPECTED);
      }
      if (shows) shown++;
    }
    return shown;
  }

  /** Start of the first of the last windows with more exceedances than expected. */
  startOfExcess(quantile: number, windows: number): number {
    const from = fromOf(quantile);
    let back = windows - 1;
    while (back > 0 && this.#of(back, from + EXCEEDANCES) <= this.#of(back, from + EXPECTED))
      back--;
    return memory.doubles[this.at + this.#slotOf(back + 1)] as number;
  }

  serialize(state: StateArchive): void {
    state.section('tail counts', 1, () => {
      const { doubles } = memory;
      const at = this.at + SUMS;
      state.fill(doubles.subarray(at, at + kept * this.#width));
      state.fill(this.#starts());
      doubles[this.at + ADDED] = state.number(this.#windowsAdded);
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

  /** Sum of a field over the last windows. */
  #sum(windows: number, i: number): number {
    const all = memory.doubles;
    const at = this.at + SUMS + i;
    const last = all[at + this.#slotOf(1) * this.#width] as number;
    return last - (all[at + this.#slotOf(windows + 1) * this.#width] as number);
  }

  /** Field of the window `back` before the last one. */
  #of(back: number, i: number): number {
    return this.#sum(back + 1, i) - this.#sum(back, i);
  }

  get #windowsAdded(): number {
    return memory.doubles[this.at + ADDED] as number;
  }

  /** Index of the window `back` before the next one. */
  #slotOf(back: number): number {
    return (this.#windowsAdded + kept - back) % kept;
  }

  #starts(): Float64Array {
    return memory.doubles.subarray(this.at, this.at + kept);
  }
}

function widthOf({ quantiles }: CountedQuantiles): number {
  return FIRST_QUANTILE + perQuantile * quantiles.length;
}

/** First field of a quantile in a window. */
function fromOf(quantile: number): number {
  return FIRST_QUANTILE + perQuantile * quantile;
}

/** Counts windows of a run over the baseline's pauses between requests: a gap is longer than these. */
export function countedOptions(
  { windows, fromMs, toMs }: StageReference,
  { quantiles, window }: DetectOptions,
): Pick<DetectOptions, 'quantiles' | 'window'> {
  const distanceMs = (toMs - fromMs) / windows;
  const isSparse = distanceMs * sparse.fill > window;
  return { quantiles, window: isSparse ? sparse.distances * distanceMs : window };
}

/** Pause after which a stage has no traffic, a day at most; 0 where that is not known. */
export function noTrafficAfterMs(
  reference: StageReference | undefined,
  { min_requests }: Pick<DetectOptions, 'min_requests'>,
): number {
  if (reference === undefined) return 0;
  const spanMs = reference.toMs - reference.fromMs;
  return Math.min(dayMs, (pauseFactor * min_requests * spanMs) / reference.digest.count);
}

/**
 * Logarithm of the probability of this number of exceedances by chance. A page's must be improbable by
 * themselves: otherwise strong evidence of a small shift could page through a few requests that are slow by
 * chance.
 */
export function logTailOf(
  { requests, exceedances, expected }: TailSums,
  dispersion: number,
): number {
  return logExceedanceTail(exceedances, requests, expected / requests, dispersion);
}
