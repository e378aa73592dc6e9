import type { StateArchive } from './state-archive.ts';

/** Windows that are looked at together. */
const blockWindows = 30;
/** Median of a squared deviation that is chance alone: chi-squared with one degree of freedom. */
const medianOfChance = 0.455;
/** What the logarithm of the median moves by at each block, up or down; more for the first ones. */
const leastStep = 0.02;
const firstSteps = { size: 0.5, blocks: 4 } as const;
/** Before any block a series is taken to be so many times as restless as by chance. */
const priorRestlessness = 2;
/** A series is calm up to so many times chance: the median is no more certain. */
const calm = 1.5;
const mostGain = 0.9;

/**
 * How far several sums over windows lie above what the baseline foretells of late, each by itself: a level
 * that follows them, slowly or not at all. A Kalman filter of a local level whose gain is learnt: where
 * means of five minutes vary no more than chance would have them, the level stays 0, and a fault that
 * creeps in is not taken for a swing; where they wander, it goes with them. How much they vary is a
 * median, which faults that nobody saw do not move.
 *
 * A block is taken in when the next one is complete, so that nothing is followed that began five minutes
 * ago. Memory: 32 bytes a sum. Cost: nanoseconds a window and sum.
 */
export class DriftForecast {
  readonly #sums: Float64Array;
  /** Means of the block that waits to be followed, if there is one. */
  readonly #waiting: Float64Array;
  /** Median of the squared means, of chance. */
  readonly #medians: Float64Array;
  /** The same of what the levels had not foretold. */
  readonly #surprises: Float64Array;
  /** How much more a request says than it usually does. */
  readonly levels: Float64Array;
  #requests = 0;
  #windows = 0;
  #blocks = 0;
  #hasWaiting = false;

  constructor(size: number) {
    this.#sums = new Float64Array(size);
    this.#waiting = new Float64Array(size);
    this.#medians = new Float64Array(size).fill(priorRestlessness * medianOfChance);
    this.#surprises = this.#medians.slice();
    this.levels = new Float64Array(size);
  }

  /**
   * Takes a window.
   *
   * @param excess sums of it over `requests`, less what the baseline foretells.
   * @param variances of one request's part in each, as they are by chance; `dispersions` times that is usual.
   */
  learn(
    requests: number,
    excess: Float64Array,
    variances: Float64Array,
    dispersions: Float64Array,
  ): void {
    for (let i = 0; i < excess.length; i++) {
      this.#sums[i] = (this.#sums[i] as number) + (excess[i] as number);
    }
    this.#requests += requests;
    this.#windows += 1;
    if (this.#windows < blockWindows) return;
    if (this.#hasWaiting) this.#follow();
    const step = Math.exp(
      Math.max(leastStep, firstSteps.size / (this.#blocks + firstSteps.blocks)),
    );
    this.#blocks += 1;
    for (let i = 0; i < excess.length; i++) {
      const mean = (this.#sums[i] as number) / this.#requests;
      const chance = ((variances[i] as number) * (dispersions[i] as number)) / this.#requests;
      const surprise = mean - Math.max(0, this.levels[i] as number);
      move(this.#medians, i, mean * mean > chance * (this.#medians[i] as number), step);
      move(this.#surprises, i, surprise ** 2 > chance * (this.#surprises[i] as number), step);
      this.#waiting[i] = mean;
      this.#sums[i] = 0;
    }
    this.#hasWaiting = true;
    this.#requests = 0;
    this.#windows = 0;
  }

  /** How many times as much as by chance minutes vary around their level: 1 where that is not certain. */
  spread(i: number): number {
    const surprise = (this.#surprises[i] as number) / medianOfChance;
    return surprise > calm ? surprise : 1;
  }

  /** How much the most restless of the levels wanders, 0 to 1: 0 up to what may be chance. */
  get wandering(): number {
    let most = calm;
    for (let i = 0; i < this.levels.length; i++) most = Math.max(most, this.spread(i));
    return Math.min(1, most - calm);
  }

  /** Forgets the levels: the baseline that they compare with is another one. */
  forget(): void {
    this.levels.fill(0);
    this.#sums.fill(0);
    this.#requests = 0;
    this.#windows = 0;
    this.#hasWaiting = false;
  }

  /** Takes over how restless another one is. */
  inherit(other: DriftForecast): void {
    this.#medians.set(other.#medians);
    this.#surprises.set(other.#surprises);
    this.#blocks = other.#blocks;
  }

  carry(state: StateArchive): void {
    state.section('drift forecast', 1, () => {
      state.fill(this.#sums);
      state.fill(this.#waiting);
      state.fill(this.#medians);
      state.fill(this.#surprises);
      state.fill(this.levels);
      this.#requests = state.number(this.#requests);
      this.#windows = state.number(this.#windows);
      this.#blocks = state.number(this.#blocks);
      this.#hasWaiting = state.flag(this.#hasWaiting);
    });
  }

  #follow(): void {
    const { levels } = this;
    for (let i = 0; i < levels.length; i++) {
      const restlessness = (this.#medians[i] as number) / medianOfChance;
      const gain = restlessness > calm ? Math.min(mostGain, 1 - calm / restlessness) : 0;
      const level = levels[i] as number;
      levels[i] = gain === 0 ? 0 : level + gain * ((this.#waiting[i] as number) - level);
    }
  }
}

/** Moves a median by a step, towards what was above it or below. */
function move(medians: Float64Array, i: number, isAbove: boolean, step: number): void {
  medians[i] = (medians[i] as number) * (isAbove ? step : 1 / step);
}
