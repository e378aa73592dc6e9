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
/** What moves by half as much again is sure to move. */
const surelyMoving = 2;

/** What is kept of each sum, those that every window needs side by side: it since the block began; */
const SUM = 0;
/** how much more a request says than it usually does; */
const LEVEL = 1;
/** median of what the levels had not foretold, squared, of chance; the same of the means; */
const SURPRISE = 2;
const MEDIAN = 3;
/** means of the block that waits to be followed, if there is one. */
const WAITING = 4;
const fields = 5;

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
  readonly #size: number;
  /** What is kept of each sum, field by field. */
  readonly #fields: Float64Array;
  #requests = 0;
  #windows = 0;
  #blocks = 0;
  #hasWaiting = false;

  constructor(size: number) {
    this.#size = size;
    this.#fields = new Float64Array(fields * size);
    this.#fields.fill(priorRestlessness * medianOfChance, SURPRISE * size, (MEDIAN + 1) * size);
  }

  /**
   * Takes a window.
   *
   * @param excess has sums of it over `requests`, less what the baseline foretells, from `from` on.
   * @returns whether it is the last one of its block, which is to be followed then.
   */
  take(requests: number, excess: Float64Array, from: number): boolean {
    const all = this.#fields;
    for (let i = 0; i < this.#size; i++) {
      all[i] = (all[i] as number) + (excess[from + i] as number);
    }
    this.#requests += requests;
    this.#windows += 1;
    return this.#windows >= blockWindows;
  }

  /**
   * Ends a block.
   *
   * @param varianceOf one request's part in a sum, as it usually is.
   */
  follow(varianceOf: (i: number) => number): void {
    if (this.#hasWaiting) this.#moveLevels();
    const step = Math.exp(
      Math.max(leastStep, firstSteps.size / (this.#blocks + firstSteps.blocks)),
    );
    this.#blocks += 1;
    for (let i = 0; i < this.#size; i++) {
      const mean = this.#of(SUM, i) / this.#requests;
      const chance = varianceOf(i) / this.#requests;
      const surprise = mean - Math.max(0, this.level(i));
      this.#step(MEDIAN, i, mean * mean > chance * this.#of(MEDIAN, i), step);
      this.#step(SURPRISE, i, surprise ** 2 > chance * this.#of(SURPRISE, i), step);
      this.#put(WAITING, i, mean);
      this.#put(SUM, i, 0);
    }
    this.#hasWaiting = true;
    this.#requests = 0;
    this.#windows = 0;
  }

  /** How much more a request says than it usually does. */
  level(i: number): number {
    return this.#of(LEVEL, i);
  }

  /** How many times as much as by chance minutes vary around their level: 1 where that is not certain. */
  spread(i: number): number {
    const surprise = this.#of(SURPRISE, i) / medianOfChance;
    return surprise > calm ? surprise : 1;
  }

  /** How much the least foreseeable of the levels surprises, 0 to 1: 0 up to what may be chance. */
  get wandering(): number {
    let most = calm;
    for (let i = 0; i < this.#size; i++) most = Math.max(most, this.spread(i));
    return Math.min(1, most - calm);
  }

  /** How much the most restless of the levels moves, foreseen or not, 0 to 1: 0 up to what may be chance. */
  get moving(): number {
    let most = calm;
    for (let i = 0; i < this.#size; i++) {
      most = Math.max(most, this.#of(MEDIAN, i) / medianOfChance);
    }
    return Math.min(1, surelyMoving * (most - calm));
  }

  /** Forgets the levels: the baseline that they compare with is another one. */
  forget(): void {
    for (let i = 0; i < this.#size; i++) {
      this.#put(LEVEL, i, 0);
      this.#put(SUM, i, 0);
    }
    this.#requests = 0;
    this.#windows = 0;
    this.#hasWaiting = false;
  }

  /** Takes over how restless another one is. */
  inherit(other: DriftForecast): void {
    const size = this.#size;
    const restlessness = other.#fields.subarray(SURPRISE * size, (MEDIAN + 1) * size);
    this.#fields.set(restlessness, SURPRISE * size);
    this.#blocks = other.#blocks;
  }

  carry(state: StateArchive): void {
    state.section('drift forecast', 2, () => {
      state.fill(this.#fields);
      this.#requests = state.number(this.#requests);
      this.#windows = state.number(this.#windows);
      this.#blocks = state.number(this.#blocks);
      this.#hasWaiting = state.flag(this.#hasWaiting);
    });
  }

  /** Where one of the levels is sure to move, those that move less are believed to as well. */
  #moveLevels(): void {
    const still = calm - (calm - 1) * this.moving;
    for (let i = 0; i < this.#size; i++) {
      const restlessness = this.#of(MEDIAN, i) / medianOfChance;
      const gain = restlessness > still ? Math.min(mostGain, 1 - still / restlessness) : 0;
      const level = this.level(i);
      this.#put(LEVEL, i, gain === 0 ? 0 : level + gain * (this.#of(WAITING, i) - level));
    }
  }

  /** Moves a median by a step, towards what was above it or below. */
  #step(field: number, i: number, isAbove: boolean, step: number): void {
    this.#put(field, i, this.#of(field, i) * (isAbove ? step : 1 / step));
  }

  #of(field: number, i: number): number {
    return this.#fields[field * this.#size + i] as number;
  }

  #put(field: number, i: number, value: number): void {
    this.#fields[field * this.#size + i] = value;
  }
}
