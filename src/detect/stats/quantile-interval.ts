import type { TDigest } from '../../sketch/t-digest.ts';

/** Standard deviations of a normal distribution to both sides that hold 95 % of it. */
export const normal95 = 1.959964;

/**
 * 95 % interval of a quantile, in the digest's unit: the order statistics 1.96 standard deviations of a
 * binomial count to both sides. The dispersion widens that variance. The interval ends at the smallest and
 * largest value where requests are too few to bound it.
 */
export function quantileInterval(
  digest: TDigest,
  q: number,
  dispersion: number,
): readonly [number, number] {
  const half = normal95 * Math.sqrt((dispersion * q * (1 - q)) / digest.count);
  return [digest.quantile(q - half), digest.quantile(q + half)];
}

/** 95 % interval of a share of requests (Wilson, 1927), with the requests divided by their dispersion. */
export function shareInterval(hits: number, requests: number, dispersion: number) {
  const n = Math.max(1, requests / dispersion);
  const share = requests === 0 ? 0 : hits / requests;
  const z2 = normal95 ** 2;
  const middle = (share + z2 / (2 * n)) / (1 + z2 / n);
  const half = (normal95 / (1 + z2 / n)) * Math.sqrt((share * (1 - share)) / n + z2 / (4 * n * n));
  return [Math.max(0, middle - half), Math.min(1, middle + half)] as [number, number];
}
