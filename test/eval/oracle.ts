import { type Component, densityAt } from './traffic-model.ts';

/** False alarms of the oracle: one in so many requests at most, a thousand weeks of them. */
export const oracleWeeks = 1_000;

/**
 * The likelihood-ratio test that knows the true traffic and the true fault (CUSUM; Page 1954, optimal
 * by Moustakides 1986): what it cannot find at its rate of false alarms, nothing can. With
 * threshold h it has a false alarm once in e^h requests at most.
 */
export class Oracle {
  readonly #threshold: number;
  #sum = 0;
  /** Window in which it was sure, -1 before. */
  foundAt = -1;

  constructor(requestsPerWeek: number) {
    this.#threshold = Math.log(requestsPerWeek * oracleWeeks);
  }

  /** One request of the stage that is at fault: its true duration, and what the fault does. */
  take(
    window: number,
    ms: number,
    usual: readonly Component[],
    fault: { readonly share: number; readonly factor: number },
  ): void {
    if (this.foundAt >= 0) return;
    const { share, factor } = fault;
    const before = densityAt(ms, usual);
    const slowed = densityAt(ms / factor, usual) / factor;
    const after = (1 - share) * before + share * slowed;
    // A duration that is impossible without the fault gives it away.
    const ratio = before > 0 ? after / before : Number.POSITIVE_INFINITY;
    this.#sum = Math.max(0, this.#sum + Math.log(ratio));
    if (this.#sum >= this.#threshold) this.foundAt = window;
  }
}
