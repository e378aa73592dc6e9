import type { MarkovChain } from './markov-chain.ts';

/** Estimates a hidden state from windows: the forward filter of a hidden Markov model. */
export class LatentFilter {
  readonly #chain: MarkovChain;
  #probabilities: Float64Array;

  /** @param probabilities of each state before the first window */
  constructor(chain: MarkovChain, probabilities = chain.stationary) {
    this.#chain = chain;
    this.#probabilities = probabilities;
  }

  /** Of each state in the latest window, given it and all before. */
  get probabilities(): Float64Array {
    return this.#probabilities;
  }

  /**
   * Adds one window.
   * @param logDensities of the window in each state
   * @returns ln of its density given the windows before; -Infinity, without an update, if no possible state
   * allows it
   */
  observe(logDensities: Float64Array): number {
    const next = this.#chain.step(this.#probabilities);
    let largest = Number.NEGATIVE_INFINITY;
    for (let state = 0; state < next.length; state++) {
      if (next[state] !== 0) largest = Math.max(largest, logDensities[state] as number);
    }
    if (largest === Number.NEGATIVE_INFINITY) return largest;
    let sum = 0;
    for (let state = 0; state < next.length; state++) {
      const predicted = next[state] as number;
      if (predicted === 0) continue;
      const joint = predicted * Math.exp((logDensities[state] as number) - largest);
      next[state] = joint;
      sum += joint;
    }
    for (let state = 0; state < next.length; state++) next[state] = (next[state] as number) / sum;
    this.#probabilities = next;
    return largest + Math.log(sum);
  }
}
