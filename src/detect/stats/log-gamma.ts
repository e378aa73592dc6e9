import { invariant } from '../../base/invariant.ts';

/** Bernoulli numbers B(2i) / (2i (2i - 1)), the coefficients of Stirling's series. */
const stirling = [
  1 / 12,
  -1 / 360,
  1 / 1260,
  -1 / 1680,
  1 / 1188,
  -691 / 360_360,
  1 / 156,
  -3617 / 122_400,
] as const;
const halfLogTwoPi = 0.5 * Math.log(2 * Math.PI);
/** Argument from which eight terms of the series leave an error below one unit in the last place. */
const seriesFrom = 10;

/**
 * ln Γ(x) for x > 0, to about 1e-14 of the larger of its value and 1. Stirling's series
 * (Abramowitz and Stegun 6.1.41) after moving a small x up by Γ(x + 1) = x Γ(x).
 */
export function logGamma(x: number): number {
  invariant(x > 0, `logGamma needs a positive argument: it is ${x}`);
  let shifted = x;
  let product = 1;
  while (shifted < seriesFrom) {
    product *= shifted;
    shifted += 1;
  }
  const inverse = 1 / shifted;
  const inverseSquare = inverse * inverse;
  let series = 0;
  for (let i = stirling.length - 1; i >= 0; i--) {
    series = series * inverseSquare + (stirling[i] as number);
  }
  const value = (shifted - 0.5) * Math.log(shifted) - shifted + halfLogTwoPi + series * inverse;
  return value - Math.log(product);
}
