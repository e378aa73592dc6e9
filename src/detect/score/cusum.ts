import { Arena } from '../../memory/arena.ts';
import type { StateArchive } from '../../snapshot/archive.ts';

const memory = Arena.shared();

/** What has fallen below this part of its peak, where the peak was odd, is over. */
const overShare = 0.6;

/** What is kept of each fault, side by side. */
const SUM = 0;
const START = 1;
const HIGHEST = 2;
const CLEAREST = 3;
const GAINING = 4;
const LAST = 5;
const perFault = 6;

/**
 * Evidence for each of several faults, added up over windows for as long as it is above 0 (CUSUM; Page,
 * "Continuous inspection schemes", 1954), and what a detector asks of it: since when, how clear without the
 * clearest window, in how many windows.
 */
export class Cusum {
  readonly #oddScore: number;
  readonly #faults: number;
  readonly #at: number;

  /**
   * @param oddScore evidence that is let go as soon as it falls, because there was that much of it.
   * @param at where it is kept, where somebody else has room for it: `Cusum.doubles` of the faults, all 0.
   */
  constructor(faults: number, oddScore: number, at?: number) {
    this.#oddScore = oddScore;
    this.#faults = faults;
    this.#at = at ?? memory.allocateFor(this, Cusum.doubles(faults));
  }

  /** What one of so many faults takes. */
  static doubles(faults: number): number {
    return perFault * faults;
  }

  /** Adds a window; for which fault there is most evidence now. */
  add(startMs: number, gains: Float64Array): number {
    const all = memory.doubles;
    let mostSum = Number.NEGATIVE_INFINITY;
    let most = 0;
    for (let i = 0; i < this.#faults; i++) {
      const at = this.#at + perFault * i;
      const gain = gains[i] as number;
      const before = all[at + SUM] as number;
      if (before <= 0) {
        all[at + START] = startMs;
        all[at + HIGHEST] = 0;
        all[at + CLEAREST] = 0;
        all[at + GAINING] = 0;
      }
      const sum = this.#kept(at, before + gain);
      all[at + SUM] = sum;
      all[at + LAST] = gain;
      if (gain > 0) all[at + GAINING] = (all[at + GAINING] as number) + 1;
      if (gain > (all[at + CLEAREST] as number)) all[at + CLEAREST] = gain;
      if (sum > mostSum) {
        mostSum = sum;
        most = i;
      }
    }
    return most;
  }

  sum(fault: number): number {
    return this.#of(fault, SUM);
  }

  /** Start of the window with which its evidence began. */
  startMs(fault: number): number {
    return this.#of(fault, START);
  }

  /** What the last window added. */
  last(fault: number): number {
    return this.#of(fault, LAST);
  }

  /** What remains without the clearest window. */
  rest(fault: number): number {
    return this.sum(fault) - this.#of(fault, CLEAREST);
  }

  /** Windows that spoke for it since its evidence began. */
  gaining(fault: number): number {
    return this.#of(fault, GAINING);
  }

  forget(): void {
    for (let i = 0; i < this.#faults; i++) memory.doubles[this.#at + perFault * i] = 0;
  }

  serialize(state: StateArchive): void {
    state.section('evidence sums', 1, () => {
      const values = new Float64Array(this.#faults);
      for (const field of [SUM, START, HIGHEST, CLEAREST, GAINING, LAST]) {
        for (let i = 0; i < this.#faults; i++) values[i] = this.#of(i, field);
        state.fill(values);
        for (let i = 0; i < this.#faults; i++) {
          memory.doubles[this.#at + perFault * i + field] = values[i] as number;
        }
      }
    });
  }

  #of(fault: number, field: number): number {
    return memory.doubles[this.#at + perFault * fault + field] as number;
  }

  #kept(at: number, sum: number): number {
    const all = memory.doubles;
    const highest = all[at + HIGHEST] as number;
    if (sum > highest) all[at + HIGHEST] = sum;
    else if (highest > this.#oddScore && sum < overShare * highest) return 0;
    return Math.max(0, sum);
  }
}
