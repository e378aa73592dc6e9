import type { RateReference } from '../baseline/rate-baseline.ts';

/** A rate must grow by so many times, and by so much, to matter to people. */
export interface LeastRise {
  readonly ratio: number;
  readonly rate: number;
}

/** The faults that are looked for: the rate has risen by so many times what matters at least. */
const rises = [1, 3, 10, 30] as const;
/** No fault is taken to hit all requests, and no request says more, in nats. */
const mostRate = 0.95;
const mostEvidence = 4;

/** The rate from which on a rise matters to people, and above half of which it goes on. */
export function rateEffect(
  usual: number,
  { ratio, rate }: LeastRise,
): { readonly effect: number; readonly halfEffect: number } {
  const effect = Math.max(usual * ratio, usual + rate);
  return { effect, halfEffect: (usual + effect) / 2 };
}

/**
 * What a request that is counted and one that is not say for each fault, against nothing being wrong: ln of how
 * much likelier it is with the fault than without.
 */
export class ProportionWeights {
  static readonly faults = rises.length;
  readonly effect: number;
  readonly hit = new Float64Array(rises.length);
  readonly missed = new Float64Array(rises.length);
  /** Mean and variance of a usual request's weight, by fault. */
  readonly means = new Float64Array(rises.length);
  readonly variances = new Float64Array(rises.length);

  constructor({ rate: usual }: RateReference, least: LeastRise) {
    this.effect = rateEffect(usual, least).effect;
    for (const [i, rise] of rises.entries()) {
      const rate = Math.max(usual, Math.min(mostRate, usual + rise * (this.effect - usual)));
      const hit = Math.min(mostEvidence, Math.log(rate / usual));
      const missed = Math.log((1 - rate) / (1 - usual));
      this.hit[i] = hit;
      this.missed[i] = missed;
      this.means[i] = usual * hit + (1 - usual) * missed;
      this.variances[i] = usual * (1 - usual) * (hit - missed) ** 2;
    }
  }
}
