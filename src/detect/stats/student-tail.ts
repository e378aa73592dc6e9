import { invariant } from '../../base/invariant.ts';
import { logGamma } from './log-gamma.ts';

/**
 * Natural logarithm of an upper bound on the probability that Student's t, of ν degrees of freedom, exceeds a
 * value. The bound is the integral of the density times x / t above the value. Far out it is ν / (ν - 1)
 * times the probability.
 *
 * @param freedom ν, more than 1, whole or not.
 * @returns 0 for a t at or below 0.
 */
export function logStudentTail(t: number, freedom: number): number {
  invariant(freedom > 1, `degrees of freedom must be more than 1: they are ${freedom}`);
  if (!(t > 0)) return 0;
  const half = freedom / 2;
  const logDensityAt0 = logGamma(half + 0.5) - logGamma(half) - 0.5 * Math.log(Math.PI * freedom);
  const logIntegral =
    Math.log(freedom / (freedom - 1)) - ((freedom - 1) / 2) * Math.log1p((t * t) / freedom);
  return Math.min(0, logDensityAt0 + logIntegral - Math.log(t));
}
