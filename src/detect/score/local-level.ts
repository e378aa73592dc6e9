import { Arena } from '../../memory/arena.ts';
import type { StateArchive } from '../../snapshot/archive.ts';

const memory = Arena.shared();

/** What a kernel needs of it, too. */
export const driftConstants = {
  /** Windows that are looked at together. */
  blockWindows: 30,
  /** Median of a squared deviation that is chance alone: chi-squared with one degree of freedom. */
  medianOfChance: 0.455,
  /** A series is calm up to so many times chance: the median is no more certain. */
  calm: 1.5,
  /** What moves by half as much again is sure to move. */
  surelyMoving: 2,
} as const;
const { blockWindows, medianOfChance, calm, surelyMoving } = driftConstants;
/** What the logarithm of the median moves by at each block, up or down; more for the first ones. */
const leastStep = 0.02;
const firstSteps = { size: 0.5, blocks: 4 } as const;
/** Before any block a series is taken to be so many times as restless as by chance. */
const priorRestlessness = 2;
const mostGain = 0.9;

/** What is kept of all sums: requests and windows of the block, blocks, and whether one waits. */
const REQUESTS = 0;
const WINDOWS = 1;
const BLOCKS = 2;
const HAS_WAITING = 3;
/** What is kept of each sum, field by field, from here on: it since the block began; */
const FIELDS = 8;
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
 * ago. Memory: 40 bytes a sum, and 64. Cost: nanoseconds a window and sum.
 */
export class LocalLevel {
  readonly #size: number;
  readonly #at: number;

  /**
   * @param at where it is kept, where somebody else has room for it: `LocalLevel.doubles` of a size, all 0.
   */
  constructor(size: number, at?: number) {
    this.#size = size;
    this.#at = at ?? memory.allocateFor(this, LocalLevel.doubles(size));
    this.#fields(SURPRISE, MEDIAN + 1).fill(priorRestlessness * medianOfChance);
  }

  /** What one of so many sums takes. */
  static doubles(size: number): number {
    return FIELDS + fields * size;
  }

  /**
   * Takes a window.
   *
   * @param excess has sums of it over `requests`, less what the baseline foretells.
   * @returns whether it is the last one of its block, which is to be followed then.
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

  /**
   * Ends a block.
   *
   * @param varianceOf one request's part in a sum, as it usually is.
   */
  update(varianceOf: (i: number) => number): void {
    const all = memory.doubles;
    const at = this.#at;
    if (all[at + HAS_WAITING] === 1) this.#moveLevels();
    const blocks = all[at + BLOCKS] as number;
    const requests = all[at + REQUESTS] as number;
    const step = Math.exp(Math.max(leastStep, firstSteps.size / (blocks + firstSteps.blocks)));
    all[at + BLOCKS] = blocks + 1;
    for (let i = 0; i < this.#size; i++) {
      const mean = this.#of(SUM, i) / requests;
      const chance = varianceOf(i) / requests;
      const surprise = mean - Math.max(0, this.level(i));
      this.#step(MEDIAN, i, mean * mean > chance * this.#of(MEDIAN, i), step);
      this.#step(SURPRISE, i, surprise ** 2 > chance * this.#of(SURPRISE, i), step);
      this.#put(WAITING, i, mean);
      this.#put(SUM, i, 0);
    }
    this.#begin(1);
  }

  /** How much more a request says than it usually does. */
  level(i: number): number {
    return this.#of(LEVEL, i);
  }

  /** How many times as much as by chance minutes vary around their level: 1 where that may be chance. */
  spread(i: number): number {
    const surprise = this.#of(SURPRISE, i) / medianOfChance;
    return surprise > this.#still ? surprise : 1;
  }

  /** How much the least foreseeable of the levels surprises, 0 to 1: 0 up to what may be chance. */
  get wandering(): number {
    return Math.min(1, this.#most(SURPRISE) - calm);
  }

  /** How much the most restless of the levels moves, foreseen or not, 0 to 1: 0 up to what may be chance. */
  get moving(): number {
    return Math.min(1, surelyMoving * (this.#most(MEDIAN) - calm));
  }

  /**
   * What part of how the most restless of the levels moves is foreseen, beyond chance: below 0 where to foretell it is
   * worse than not to, as of what swings within minutes; 0 where it may be chance.
   */
  get foreseen(): number {
    let most = 0;
    for (let i = 1; i < this.#size; i++) if (this.#of(MEDIAN, i) > this.#of(MEDIAN, most)) most = i;
    const varianceInflation = this.#of(MEDIAN, most) / medianOfChance;
    if (varianceInflation <= calm) return 0;
    return 1 - (this.#of(SURPRISE, most) / medianOfChance - 1) / (varianceInflation - 1);
  }

  /** Forgets the levels: the baseline that they compare with is another one. */
  forget(): void {
    for (let i = 0; i < this.#size; i++) {
      this.#put(LEVEL, i, 0);
      this.#put(SUM, i, 0);
    }
    this.#begin(0);
  }

  /** Takes over how restless another one is. */
  inherit(other: LocalLevel): void {
    this.#fields(SURPRISE, MEDIAN + 1).set(other.#fields(SURPRISE, MEDIAN + 1));
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
      all[this.#at + HAS_WAITING] = state.flag(all[this.#at + HAS_WAITING] === 1) ? 1 : 0;
    });
  }

  /** Begins a block, after one that waits or without. */
  #begin(hasWaiting: number): void {
    const all = memory.doubles;
    all[this.#at + REQUESTS] = 0;
    all[this.#at + WINDOWS] = 0;
    all[this.#at + HAS_WAITING] = hasWaiting;
  }

  /**
   * So many times chance may be chance: where one of the levels is sure to move, those that move less are believed to as
   * well.
   */
  get #still(): number {
    return calm - (calm - 1) * this.moving;
  }

  #moveLevels(): void {
    const still = this.#still;
    for (let i = 0; i < this.#size; i++) {
      const varianceInflation = this.#of(MEDIAN, i) / medianOfChance;
      const gain =
        varianceInflation > still ? Math.min(mostGain, 1 - still / varianceInflation) : 0;
      const level = this.level(i);
      this.#put(LEVEL, i, gain === 0 ? 0 : level + gain * (this.#of(WAITING, i) - level));
    }
  }

  /** The largest of the medians of a field, by chance's own; what is calm counts as the most that is. */
  #most(field: number): number {
    let most: number = calm;
    for (let i = 0; i < this.#size; i++) most = Math.max(most, this.#of(field, i) / medianOfChance);
    return most;
  }

  /** Moves a median by a step, towards what was above it or below. */
  #step(field: number, i: number, isAbove: boolean, step: number): void {
    this.#put(field, i, this.#of(field, i) * (isAbove ? step : 1 / step));
  }

  #of(field: number, i: number): number {
    return memory.doubles[this.#at + FIELDS + field * this.#size + i] as number;
  }

  #put(field: number, i: number, value: number): void {
    memory.doubles[this.#at + FIELDS + field * this.#size + i] = value;
  }

  /** A view of the fields from one to before another. */
  #fields(from: number, to: number): Float64Array {
    const at = this.#at + FIELDS;
    return memory.doubles.subarray(at + from * this.#size, at + to * this.#size);
  }
}
