/** A request: how long it took, or, if it was given up, how long it had taken. */
export interface Observed {
  readonly ms: number;
  readonly isCensored: boolean;
}

/** Estimator of Kaplan and Meier on raw requests, in its textbook form. */
export class KaplanMeier {
  readonly #times: number[] = [];
  /** Share of the requests that outlasts each of the times. */
  readonly #shares: number[] = [];
  readonly #isFinished: boolean[] = [];

  constructor(observed: readonly Observed[]) {
    // At equal times those that finished come first.
    const sorted = observed.toSorted(
      (a, b) => a.ms - b.ms || Number(a.isCensored) - Number(b.isCensored),
    );
    let share = 1;
    for (let i = 0; i < sorted.length; ) {
      const { ms } = sorted[i] as Observed;
      const running = sorted.length - i;
      let finished = 0;
      for (; i < sorted.length && sorted[i]?.ms === ms; i++) {
        if (sorted[i]?.isCensored === false) finished++;
      }
      share *= 1 - finished / running;
      this.#times.push(ms);
      this.#shares.push(share);
      this.#isFinished.push(finished > 0);
    }
  }

  /** Share of the requests that outlasts a time. */
  outlasting(ms: number): number {
    const next = this.#times.findIndex((time) => time > ms);
    const last = next < 0 ? this.#times.length : next;
    return last === 0 ? 1 : (this.#shares[last - 1] as number);
  }

  /**
   * The least finished duration that at most 1 − q of the requests outlast; undefined where that lies beyond the last
   * finished one.
   */
  quantile(q: number): number | undefined {
    const at = this.#shares.findIndex((share, i) => this.#isFinished[i] && share <= 1 - q + 1e-12);
    return at < 0 ? undefined : this.#times[at];
  }
}

export function kaplanMeier(observed: readonly Observed[], q: number): number | undefined {
  return new KaplanMeier(observed).quantile(q);
}

/** The quantile if each request that was given up had ended there: what is certain of the true one. */
export function leastQuantile(observed: readonly Observed[], q: number): number {
  const sorted = observed.map(({ ms }) => ms).sort((a, b) => a - b);
  return sorted[Math.ceil(q * sorted.length - 1e-9) - 1] as number;
}
