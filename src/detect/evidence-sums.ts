import type { StateArchive } from '../baseline/state-archive.ts';

/** What has fallen below this part of its peak, where the peak was odd, is over. */
const overShare = 0.6;

/**
 * Evidence for each of several faults, added up over windows for as long as it is above 0 (CUSUM; Page,
 * "Continuous inspection schemes", 1954), and what a detector asks of it: since when, how clear without the
 * clearest window, in how many windows.
 */
export class EvidenceSums {
  readonly #oddScore: number;
  readonly #sums: Float64Array;
  readonly #starts: Float64Array;
  readonly #highest: Float64Array;
  readonly #clearest: Float64Array;
  readonly #gaining: Float64Array;
  readonly #last: Float64Array;

  /** @param oddScore evidence that is let go as soon as it falls, because there was that much of it. */
  constructor(faults: number, oddScore: number) {
    this.#oddScore = oddScore;
    this.#sums = new Float64Array(faults);
    this.#starts = new Float64Array(faults);
    this.#highest = new Float64Array(faults);
    this.#clearest = new Float64Array(faults);
    this.#gaining = new Float64Array(faults);
    this.#last = new Float64Array(faults);
  }

  /** Adds a window; for which fault there is most evidence now. */
  add(startMs: number, gains: Float64Array): number {
    const sums = this.#sums;
    let most = 0;
    for (let i = 0; i < sums.length; i++) {
      const gain = gains[i] as number;
      if ((sums[i] as number) <= 0) this.#begin(i, startMs);
      sums[i] = this.#kept(i, (sums[i] as number) + gain);
      this.#last[i] = gain;
      if (gain > 0) this.#gaining[i] = (this.#gaining[i] as number) + 1;
      if (gain > (this.#clearest[i] as number)) this.#clearest[i] = gain;
      if ((sums[i] as number) > (sums[most] as number)) most = i;
    }
    return most;
  }

  sum(fault: number): number {
    return this.#sums[fault] as number;
  }

  /** Start of the window with which its evidence began. */
  startMs(fault: number): number {
    return this.#starts[fault] as number;
  }

  /** What the last window added. */
  last(fault: number): number {
    return this.#last[fault] as number;
  }

  /** What remains without the clearest window. */
  rest(fault: number): number {
    return this.sum(fault) - (this.#clearest[fault] as number);
  }

  /** Windows that spoke for it since its evidence began. */
  gaining(fault: number): number {
    return this.#gaining[fault] as number;
  }

  forget(): void {
    this.#sums.fill(0);
  }

  carry(state: StateArchive): void {
    state.section('evidence sums', 1, () => {
      state.fill(this.#sums);
      state.fill(this.#starts);
      state.fill(this.#highest);
      state.fill(this.#clearest);
      state.fill(this.#gaining);
      state.fill(this.#last);
    });
  }

  #begin(i: number, startMs: number): void {
    this.#starts[i] = startMs;
    this.#clearest[i] = 0;
    this.#highest[i] = 0;
    this.#gaining[i] = 0;
  }

  #kept(i: number, sum: number): number {
    const highest = this.#highest[i] as number;
    if (sum > highest) this.#highest[i] = sum;
    else if (highest > this.#oddScore && sum < overShare * highest) return 0;
    return Math.max(0, sum);
  }
}
