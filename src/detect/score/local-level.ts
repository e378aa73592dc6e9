import { Arena } from '../../memory/arena.ts';
import type { StateArchive } from '../../snapshot/archive.ts';

const memory = Arena.shared();

/** Constants shared with the evidence kernel. */
export const localLevelConstants = {
  /** Windows per block. */
  blockWindows: 30,
  /** Median of a squared deviation by chance alone: chi-squared with one degree of freedom. */
  medianOfChance: 0.455,
  /** Variance ratio up to which a series counts as stationary: the estimated median is no more certain. */
  stationaryRatio: 1.5,
  /** Slope of `levelVariation` above `stationaryRatio`: it is 1 from half a unit above. */
  variationSlope: 2,
} as const;
const { blockWindows, medianOfChance, stationaryRatio, variationSlope } = localLevelConstants;
/** Tuned with `npm run eval`; test/detect/score/local-level.test.ts holds them. */
const tuned = {
  /** Step of a median's logarithm at each block, up or down; larger for the first blocks. */
  leastStep: 0.02,
  firstSteps: { size: 0.5, blocks: 4 },
  /** Variance ratio over chance assumed before the first block. */
  priorVarianceRatio: 2,
  maxGain: 0.9,
} as const;

/** Fields of all sums together: requests and windows of the block, blocks, and 1 where one is pending. */
const REQUESTS = 0;
const WINDOWS = 1;
const BLOCKS = 2;
const HAS_PENDING = 3;
/** Fields of each sum, from this offset: its value since the block began, and its level per request. */
const FIELDS = 8;
const SUM = 0;
const LEVEL = 1;
/** Medians over chance: of the squared forecast errors, and of the squared means. */
const ERROR = 2;
const MEDIAN = 3;
/** Mean of the pending block. */
const PENDING = 4;
const fields = 5;

/**
 * Local-level Kalman filter of several sums over windows, relative to the baseline, each separately. Its gain
 * follows the variance: a level stays 0 while five-minute means vary by chance alone, so that it does not
 * absorb a slow fault. It tracks the means of a non-stationary series. Variances are medians, which
 * undetected faults do not move.
 *
 * It updates on a block once the next one is complete: a fault of the last five minutes is not absorbed.
 * Memory: 40 bytes a sum, and 64. Cost: nanoseconds a window and sum.
 */
export class LocalLevel {
  readonly #size: number;
  readonly #at: number;

  /** @param at offset in the arena, if the caller has allocated it: `LocalLevel.doubles`, all 0. */
  constructor(size: number, at?: number) {
    this.#size = size;
    this.#at = at ?? memory.allocateFor(this, LocalLevel.doubles(size));
    this.#fields(ERROR, MEDIAN + 1).fill(tuned.priorVarianceRatio * medianOfChance);
  }

  /** Size in doubles, for this number of sums. */
  static doubles(size: number): number {
    return FIELDS + fields * size;
  }

  /**
   * Observes a window.
   *
   * @param excess sums over the window's `requests`, less the baseline's prediction.
   * @returns true for the last window of a block: the caller must then `update`.
   */
  observe(requests: number, excess: Float64Array): boolean {
    const all = memory.doubles;
    const at = this.#at;
    const sums = at + FIELDS;
    for (let i = 0; i < this.#size; i++) {
      all[sums + i] = (all[sums + i] as number) + (excess[i] as number);
    }
    all[at + REQUESTS] = (all[at + REQUESTS] as number) + requests;
    const windows = (all[at + WINDOWS] as number) + 1;
    all[at + WINDOWS] = windows;
    return windows >= blockWindows;
  }

  /** Ends a block. @param varianceOf variance of one request's part in a sum, by the baseline. */
  update(varianceOf: (i: number) => number): void {
    const all = memory.doubles;
    const at = this.#at;
    if (all[at + HAS_PENDING] === 1) this.#updateLevels();
    const blocks = all[at + BLOCKS] as number;
    const requests = all[at + REQUESTS] as number;
    const { leastStep, firstSteps } = tuned;
    const step = Math.exp(Math.max(leastStep, firstSteps.size / (blocks + firstSteps.blocks)));
    all[at + BLOCKS] = blocks + 1;
    for (let i = 0; i < this.#size; i++) {
      const mean = this.#of(SUM, i) / requests;
      const chance = varianceOf(i) / requests;
      const error = mean - Math.max(0, this.level(i));
      this.#step(MEDIAN, i, mean * mean > chance * this.#of(MEDIAN, i), step);
      this.#step(ERROR, i, error ** 2 > chance * this.#of(ERROR, i), step);
      this.#put(PENDING, i, mean);
      this.#put(SUM, i, 0);
    }
    this.#begin(1);
  }

  /** Predicted excess of a request over the baseline. */
  level(i: number): number {
    return this.#of(LEVEL, i);
  }

  /** Variance of means around their level, over chance: 1 where it may be chance. */
  spread(i: number): number {
    const ratio = this.#of(ERROR, i) / medianOfChance;
    return ratio > this.#significantRatio ? ratio : 1;
  }

  /** Forecast error of the least predictable level, 0 to 1: 0 where it may be chance. */
  get nonStationarity(): number {
    return Math.min(1, this.#max(ERROR) - stationaryRatio);
  }

  /** Variation of the most variable level, predicted or not, 0 to 1: 0 where it may be chance. */
  get levelVariation(): number {
    return Math.min(1, variationSlope * (this.#max(MEDIAN) - stationaryRatio));
  }

  /**
   * Part of the most variable level's variation beyond chance that the filter predicts. It is below 0 where
   * predicting is worse than not to, as for changes within minutes, and 0 where the variation may be chance.
   */
  get predictability(): number {
    let most = 0;
    for (let i = 1; i < this.#size; i++) if (this.#of(MEDIAN, i) > this.#of(MEDIAN, most)) most = i;
    const varianceInflation = this.#of(MEDIAN, most) / medianOfChance;
    if (varianceInflation <= stationaryRatio) return 0;
    return 1 - (this.#of(ERROR, most) / medianOfChance - 1) / (varianceInflation - 1);
  }

  /** Resets the levels, which are relative to the baseline, after the baseline was replaced. */
  forget(): void {
    this.#fields(SUM, LEVEL + 1).fill(0);
    this.#begin(0);
  }

  /** Copies the variances, not the levels, of another filter. */
  inherit(other: LocalLevel): void {
    this.#fields(ERROR, MEDIAN + 1).set(other.#fields(ERROR, MEDIAN + 1));
    const all = memory.doubles;
    all[this.#at + BLOCKS] = all[other.#at + BLOCKS] as number;
  }

  serialize(state: StateArchive): void {
    state.section('drift forecast', 2, () => {
      const all = memory.doubles;
      state.fill(this.#fields(0, fields));
      for (const field of [REQUESTS, WINDOWS, BLOCKS]) {
        all[this.#at + field] = state.number(all[this.#at + field] as number);
      }
      all[this.#at + HAS_PENDING] = state.flag(all[this.#at + HAS_PENDING] === 1) ? 1 : 0;
    });
  }

  #begin(hasPending: number): void {
    const all = memory.doubles;
    all[this.#at + REQUESTS] = 0;
    all[this.#at + WINDOWS] = 0;
    all[this.#at + HAS_PENDING] = hasPending;
  }

  /** Variance ratio up to which a level is constant; lower where another level surely varies. */
  get #significantRatio(): number {
    return stationaryRatio - (stationaryRatio - 1) * this.levelVariation;
  }

  #updateLevels(): void {
    const significant = this.#significantRatio;
    for (let i = 0; i < this.#size; i++) {
      const ratio = this.#of(MEDIAN, i) / medianOfChance;
      const gain = ratio > significant ? Math.min(tuned.maxGain, 1 - significant / ratio) : 0;
      const level = this.level(i);
      this.#put(LEVEL, i, gain === 0 ? 0 : level + gain * (this.#of(PENDING, i) - level));
    }
  }

  /** Largest median of a field over chance, at least `stationaryRatio`. */
  #max(field: number): number {
    let max: number = stationaryRatio;
    for (let i = 0; i < this.#size; i++) max = Math.max(max, this.#of(field, i) / medianOfChance);
    return max;
  }

  /** Moves a median by one step towards the last value. */
  #step(field: number, i: number, isAbove: boolean, step: number): void {
    this.#put(field, i, this.#of(field, i) * (isAbove ? step : 1 / step));
  }

  #of(field: number, i: number): number {
    return memory.doubles[this.#at + FIELDS + field * this.#size + i] as number;
  }

  #put(field: number, i: number, value: number): void {
    memory.doubles[this.#at + FIELDS + field * this.#size + i] = value;
  }

  /** View of the fields in [from, to). */
  #fields(from: number, to: number): Float64Array {
    const at = this.#at + FIELDS;
    return memory.doubles.subarray(at + from * this.#size, at + to * this.#size);
  }
}
