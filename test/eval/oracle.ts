import { LatentFilter } from './latent-filter.ts';
import type { MarkovChain } from './markov-chain.ts';

/** Weeks between two false alarms of the oracle, or more. */
export const oracleWeeks = 1_000;

/**
 * The likelihood-ratio test that knows the law of the traffic and of the fault. It does not know the start of
 * the fault or the state of the traffic. No other test finds what it cannot find at its rate of false alarms.
 *
 * The statistic is that of Shiryaev and Roberts. It is the sum, over all possible start windows, of the
 * likelihood ratio of the later windows, given the earlier ones. Among tests with as many false alarms it
 * detects a late change soonest (Pollak and Tartakovsky 2009; with hidden states if false alarms are rare,
 * Fuh 2004). It exceeds the largest of the ratios, Page's CUSUM. It starts at 0; one that had run for long
 * would be a little ahead.
 *
 * The states are summed over, with and without the fault, so that a hidden one counts by its probability.
 * Without a fault the statistic less the number of windows is a martingale, for any states. So with a
 * threshold of A windows there are A windows or more to a false alarm.
 */
export class Oracle {
  readonly #chain: MarkovChain;
  readonly #threshold: number;
  /** State without a fault. */
  readonly #unharmed: LatentFilter;
  /** For each state the ratios of the windows so far with it the latest, summed over the starts. */
  #ratios: Float64Array;
  /** The statistic. */
  evidence = 0;
  /** Window of the detection, -1 before. */
  foundAt = -1;

  /** @param before probability of each state in the window before, given all windows so far */
  constructor(chain: MarkovChain, before: Float64Array, threshold: number) {
    this.#chain = chain;
    this.#threshold = threshold;
    this.#unharmed = new LatentFilter(chain, before);
    this.#ratios = new Float64Array(before.length);
  }

  /** Adds one window of the faulty stage: ln of its density in each state, without and with the fault. */
  observe(window: number, baseline: Float64Array, faulty: Float64Array): void {
    if (this.foundAt >= 0) return;
    // The fault was there before, or starts here.
    const started = this.#ratios.map((ratio, i) => ratio + (this.#unharmed.probabilities[i] ?? 0));
    const next = this.#chain.step(started);
    const logBaseline = this.#unharmed.observe(baseline);
    this.#ratios = next.map((ratio, i) => {
      const logFaulty = faulty[i] as number;
      if (ratio === 0 || logFaulty === Number.NEGATIVE_INFINITY) return 0;
      // A window that is impossible without the fault has an infinite ratio.
      return ratio * Math.exp(logFaulty - logBaseline);
    });
    this.evidence = this.#ratios.reduce((sum, ratio) => sum + ratio, 0);
    if (this.evidence >= this.#threshold) this.foundAt = window;
  }
}
