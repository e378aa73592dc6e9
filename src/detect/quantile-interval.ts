import type { TDigest } from '../sketch/t-digest.ts';

const normal95 = 1.959964;

/**
 * 95 % interval of a quantile, in the digest's unit: the order statistics whose ranks lie 1.96
 * standard deviations of a binomial count to both sides, the variance widened by the dispersion.
 * Ends at the smallest and largest value when the requests are too few to bound it.
 */
export function quantileInterval(
  digest: TDigest,
  q: number,
  dispersion: number,
): readonly [number, number] {
  const half = normal95 * Math.sqrt((dispersion * q * (1 - q)) / digest.count);
  return [digest.quantile(q - half), digest.quantile(q + half)];
}
