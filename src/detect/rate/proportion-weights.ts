import type { RateReference } from '../../baseline/rate-baseline.ts';
import { Arena } from '../../memory/arena.ts';

const memory = Arena.shared();

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
  baseline: number,
  { ratio, rate }: LeastRise,
): { readonly effect: number; readonly halfEffect: number } {
  const effect = Math.max(baseline * ratio, baseline + rate);
  return { effect, halfEffect: (baseline + effect) / 2 };
}

/** What is kept of each fault, side by side. */
const HIT = 0;
const MISSED = 1;
const MEAN = 2;
const VARIANCE = 3;
const perFault = 4;

/**
 * What a request that is counted and one that is not say for each fault, against nothing being wrong: ln of how
 * much likelier it is with the fault than without.
 */
export class ProportionWeights {
  static readonly faults = rises.length;
  /** What one takes. */
  static readonly doubles = perFault * rises.length;

  readonly #at: number;
  #effect = 0;

  /** @param at where it is kept: `ProportionWeights.doubles`. It is of use once it was renewed. */
  constructor(at: number) {
    this.#at = at;
  }

  /** The rate from which on a rise matters. */
  get effect(): number {
    return this.#effect;
  }

  /** Makes it what it is against another usual rate. */
  renew({ rate: baseline }: RateReference, least: LeastRise): void {
    this.#effect = rateEffect(baseline, least).effect;
    const all = memory.doubles;
    for (let i = 0; i < rises.length; i++) {
      const at = this.#at + perFault * i;
      const rise = (rises[i] as number) * (this.#effect - baseline);
      const rate = Math.max(baseline, Math.min(mostRate, baseline + rise));
      const hit = Math.min(mostEvidence, Math.log(rate / baseline));
      const missed = Math.log((1 - rate) / (1 - baseline));
      all[at + HIT] = hit;
      all[at + MISSED] = missed;
      all[at + MEAN] = baseline * hit + (1 - baseline) * missed;
      all[at + VARIANCE] = baseline * (1 - baseline) * (hit - missed) ** 2;
    }
  }

  /** What requests say of which so many are counted. */
  scoreOf(fault: number, requests: number, hits: number): number {
    const all = memory.doubles;
    const at = this.#at + perFault * fault;
    return hits * (all[at + HIT] as number) + (requests - hits) * (all[at + MISSED] as number);
  }

  /** Mean of a usual request's weight. */
  mean(fault: number): number {
    return memory.doubles[this.#at + perFault * fault + MEAN] as number;
  }

  /** Variance of it. */
  variance(fault: number): number {
    return memory.doubles[this.#at + perFault * fault + VARIANCE] as number;
  }
}
