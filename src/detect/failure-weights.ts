import type { RateReference } from '../baseline/rate-baseline.ts';
import type { DetectOptions } from './detect-options.ts';

export type RateEffectOptions = Pick<DetectOptions, 'min_error_ratio' | 'min_error_rate'>;

/** The faults that are looked for: the rate has risen by so many times what matters at least. */
const rises = [1, 3, 10, 30] as const;
/** No fault is taken to fail all requests, and no request says more, in nats. */
const mostRate = 0.95;
const mostEvidence = 4;

/** The rate from which on a rise matters to people, and above half of which it goes on. */
export function rateEffect(
  usual: number,
  { min_error_ratio: ratio, min_error_rate: rate }: RateEffectOptions,
): { readonly effect: number; readonly halfEffect: number } {
  const effect = Math.max(usual * ratio, usual + rate);
  return { effect, halfEffect: (usual + effect) / 2 };
}

/**
 * What a failed request and one that did not fail say for each fault, against nothing being wrong: ln of how
 * much likelier it is with the fault than without.
 */
export class FailureWeights {
  static readonly faults = rises.length;
  readonly effect: number;
  readonly failed = new Float64Array(rises.length);
  readonly passed = new Float64Array(rises.length);
  /** Mean and variance of a usual request's weight, by fault. */
  readonly means = new Float64Array(rises.length);
  readonly variances = new Float64Array(rises.length);

  constructor({ rate: usual }: RateReference, options: RateEffectOptions) {
    this.effect = rateEffect(usual, options).effect;
    for (const [i, rise] of rises.entries()) {
      const rate = Math.max(usual, Math.min(mostRate, usual + rise * (this.effect - usual)));
      const failed = Math.min(mostEvidence, Math.log(rate / usual));
      const passed = Math.log((1 - rate) / (1 - usual));
      this.failed[i] = failed;
      this.passed[i] = passed;
      this.means[i] = usual * failed + (1 - usual) * passed;
      this.variances[i] = usual * (1 - usual) * (failed - passed) ** 2;
    }
  }
}
