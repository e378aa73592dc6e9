import { Arena } from '../../memory/arena.ts';
import type { StateArchive } from '../../snapshot/archive.ts';

const memory = Arena.shared();

/** Part of a significant peak below which evidence is reset. */
const overShare = 0.6;

/** Fields of each fault, side by side. */
const SUM = 0;
const START = 1;
const HIGHEST = 2;
const CLEAREST = 3;
const GAINING = 4;
const LAST = 5;
const perFault = 6;

/**
 * Cumulative evidence for each of several faults, summed over windows while it is above 0 (CUSUM; Page,
 * "Continuous inspection schemes", 1954).
 */
export class Cusum {
  readonly #resetScore: number;
  readonly #faults: number;
  readonly #at: number;

  /**
   * @param resetScore peak above which evidence is reset once it falls below `overShare` of the peak.
   * @param at offset in the arena, if the caller has allocated it: `Cusum.doubles` of the faults, all 0.
   */
  constructor(faults: number, resetScore: number, at?: number) {
    this.#resetScore = resetScore;
    this.#faults = faults;
    this.#at = at ?? memory.allocateFor(this, Cusum.doubles(faults));
  }

  /** Size in doubles. */
  static doubles(faults: number): number {
    return perFault * faults;
  }

  /** Adds a window, and returns the fault with most evidence. */
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
      const sum = this.#resetOrKeep(at, before + gain);
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

  /** Start of the window in which the evidence began. */
  startMs(fault: number): number {
    return this.#of(fault, START);
  }

  /** Evidence added by the last window. */
  last(fault: number): number {
    return this.#of(fault, LAST);
  }

  /** Evidence without its clearest window. */
  rest(fault: number): number {
    return this.sum(fault) - this.#of(fault, CLEAREST);
  }

  /** Windows that added evidence since it began. */
  gaining(fault: number): number {
    return this.#of(fault, GAINING);
  }

  forget(): void {
    for (let i = 0; i < this.#faults; i++) memory.doubles[this.#at + perFault * i] = 0;
  }

  serialize(state: StateArchive): void {
    state.section('evidence sums', 1, () => {
      for (let field = SUM; field < perFault; field++) {
        const values = Float64Array.from({ length: this.#faults }, (_, i) => this.#of(i, field));
        state.fill(values);
        for (const [i, value] of values.entries()) {
          memory.doubles[this.#at + perFault * i + field] = value;
        }
      }
    });
  }

  #of(fault: number, field: number): number {
    return memory.doubles[this.#at + perFault * fault + field] as number;
  }

  #resetOrKeep(at: number, sum: number): number {
    const all = memory.doubles;
    const highest = all[at + HIGHEST] as number;
    if (sum > highest) all[at + HIGHEST] = sum;
    else if (highest > this.#resetScore && sum < overShare * highest) return 0;
    return Math.max(0, sum);
  }
}
