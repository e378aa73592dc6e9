import type { RateReference } from '../../baseline/rate-baseline.ts';
import { Arena } from '../../memory/arena.ts';
import { logExceedanceTail } from '../stats/exceedance-tail.ts';

const memory = Arena.shared();

/** Smallest rise of a rate that matters: both as a ratio and as a difference. */
export interface LeastRise {
  readonly ratio: number;
  readonly rate: number;
}

/** Faults that are tested: rises in multiples of the smallest one that matters. */
const riseFactors = [1, 3, 10, 30] as const;
/** Evidence from which windows are not learnt, in nats. */
export const suspiciousScore = Math.log(1e3);
/**
 * Odds for the baseline that make a window clear. Without them each ordinary failure in a small series restarts
 * the wait for its end; at 1, an anomaly of twice the least rise ends while its fault goes on.
 */
const clearOdds = 10;
/** Upper limits of a fault's rate, and of the evidence of one request in nats. */
const maxRate = 0.95;
const maxEvidence = 4;

/** Rate from which a rise matters. */
export function effectRate(baseline: number, { ratio, rate }: LeastRise): number {
  return Math.max(baseline * ratio, baseline + rate);
}

/** Requests of some windows, and the hits among them. */
export interface Counts {
  readonly windows: number;
  readonly requests: number;
  readonly hits: number;
  readonly rate: number;
}

/** Reports whether a fault may go on: unless the baseline's rate is `clearOdds` times as likely as the fault's. */
export function mayContinue(fault: number, baseline: number, { requests, hits }: Counts): boolean {
  const rate = Math.min(maxRate, fault);
  const ofHits = hits * Math.log(rate / baseline);
  const ofMissed = (requests - hits) * Math.log((1 - rate) / (1 - baseline));
  return ofHits + ofMissed > -Math.log(clearOdds);
}

/** Reports whether the baseline has as many hits by chance less than once in 1,000 times. */
export function isUnusual(baseline: number, { requests, hits }: Counts): boolean {
  return logExceedanceTail(hits, requests, baseline, 1) < -suspiciousScore;
}

/** Fields of a fault. */
const HIT = 0;
const MISSED = 1;
const MEAN = 2;
const VARIANCE = 3;
const perFault = 4;

/** Log-likelihood ratios of a hit and of a miss, for each fault against the baseline. */
export class ProportionWeights {
  static readonly faults = riseFactors.length;
  /** Size of the allocation. */
  static readonly doubles = perFault * riseFactors.length;

  readonly #offset: number;
  #effect = 0;

  /** @param offset of an allocation of `ProportionWeights.doubles`; unusable before the first `rebase`. */
  constructor(offset: number) {
    this.#offset = offset;
  }

  /** Rate from which a rise matters. */
  get effect(): number {
    return this.#effect;
  }

  /** Computes the weights for another baseline. */
  rebase({ rate: baseline }: RateReference, least: LeastRise): void {
    this.#effect = effectRate(baseline, least);
    const all = memory.doubles;
    for (let i = 0; i < riseFactors.length; i++) {
      const offset = this.#offset + perFault * i;
      const rise = (riseFactors[i] as number) * (this.#effect - baseline);
      const rate = Math.max(baseline, Math.min(maxRate, baseline + rise));
      const hit = Math.min(maxEvidence, Math.log(rate / baseline));
      const missed = Math.log((1 - rate) / (1 - baseline));
      all[offset + HIT] = hit;
      all[offset + MISSED] = missed;
      all[offset + MEAN] = baseline * hit + (1 - baseline) * missed;
      all[offset + VARIANCE] = baseline * (1 - baseline) * (hit - missed) ** 2;
    }
  }

  /** Log-likelihood ratio of requests with this number of hits. */
  scoreOf(fault: number, requests: number, hits: number): number {
    const all = memory.doubles;
    const offset = this.#offset + perFault * fault;
    return (
      hits * (all[offset + HIT] as number) + (requests - hits) * (all[offset + MISSED] as number)
    );
  }

  /** Mean weight of a request in the baseline. */
  mean(fault: number): number {
    return memory.doubles[this.#offset + perFault * fault + MEAN] as number;
  }

  /** Variance of that weight. */
  variance(fault: number): number {
    return memory.doubles[this.#offset + perFault * fault + VARIANCE] as number;
  }
}
