/** A Markov chain of finitely many states, a step a window. */
export class MarkovChain {
  /** Probability of each state after a long time. */
  readonly stationary: Float64Array;
  readonly #rows: readonly Float64Array[];

  /** @param rows for each state the probabilities of its successors, which sum to 1 */
  constructor(rows: readonly ArrayLike<number>[], stationary: ArrayLike<number>) {
    this.#rows = rows.map((row) => Float64Array.from(row));
    this.stationary = Float64Array.from(stationary);
  }

  /** Returns the weights of the states one window later: O(states²), less where many are 0. */
  step(weights: Float64Array): Float64Array {
    const next = new Float64Array(weights.length);
    for (let from = 0; from < weights.length; from++) {
      const weight = weights[from] as number;
      if (weight === 0) continue;
      const row = this.#rows[from] as Float64Array;
      for (let to = 0; to < next.length; to++) {
        next[to] = (next[to] as number) + weight * (row[to] as number);
      }
    }
    return next;
  }
}
