import { LatentFilter } from './latent-filter.ts';
import type { MarkovChain } from './markov-chain.ts';

/** Weeks between two false alarms of the oracle, or more. */
export const oracleWeeks = 1_000;

/**
 * The likelihood-ratio test that knows the law of the traffic and the fault, and only does not know
 * when the fault begins nor in what state the traffic is: what it cannot find at its rate of false
 * alarms, nobody can.
 *
 * The statistic is that of Shiryaev and Roberts: the sum, over all windows in which the fault may have
 * begun, of the likelihood ratio of what came since, given what came before. Of all tests with as many
 * false alarms it is soonest sure of a change that comes after a long time (Pollak and Tartakovsky
 * 2009; with hidden states if false alarms are rare, Fuh 2004), and it exceeds the largest of the ratios,
 * Page's CUSUM. It begins at 0; one that had run for long would be a little ahead. The states are
 * summed over, with and without the fault, so that one that nobody sees counts by its probability.
 * Without a fault the statistic less the number of windows is a martingale, whatever the states: with
 * a threshold of A windows there are A windows or more to a false alarm.
 */
export class Oracle {
  readonly #chain: MarkovChain;
  readonly #threshold: number;
  /** The state, as it is if there is no fault. */
  readonly #unharmed: LatentFilter;
  /** For each state the ratios of the windows so far with it the latest, summed over where it began. */
  #ratios: Float64Array;
  /** The statistic. */
  evidence = 0;
  /** Window in which it was sure, -1 before. */
  foundAt = -1;

  /** @param before probability of each state in the window before, given all that came */
  constructor(chain: MarkovChain, before: Float64Array, threshold: number) {
    this.#chain = chain;
    this.#threshold = threshold;
    this.#unharmed = new LatentFilter(chain, before);
    this.#ratios = new Float64Array(before.length);
  }

  /** One window of the stage that may be at fault: ln of its density in each state, without and with the fault. */
  take(window: number, baseline: Float64Array, faulty: Float64Array): void {
    if (this.foundAt >= 0) return;
    // The fault was there before, or begins here.
    const begun = this.#ratios.map((ratio, i) => ratio + (this.#unharmed.probabilities[i] ?? 0));
    const next = this.#chain.step(begun);
    const logBaseline = this.#unharmed.take(baseline);
    this.#ratios = next.map((ratio, i) => {
      const logFaulty = faulty[i] as number;
      if (ratio === 0 || logFaulty === Number.NEGATIVE_INFINITY) return 0;
      // What is impossible without the fault gives it away: its ratio is infinite.
      return ratio * Math.exp(logFaulty - logBaseline);
    });
    this.evidence = this.#ratios.reduce((sum, ratio) => sum + ratio, 0);
    if (this.evidence >= this.#threshold) this.foundAt = window;
  }
}
