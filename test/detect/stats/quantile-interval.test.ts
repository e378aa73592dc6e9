import { describe, expect, it } from 'vitest';
import { quantileInterval } from '../../../src/detect/stats/quantile-interval.ts';
import { TDigest } from '../../../src/sketch/t-digest.ts';
import { mulberry32, SeededRandom } from '../../base/seeded-random.ts';

describe('quantileInterval', () => {
  it('covers the true quantile of independent requests 95 times in 100', () => {
    const random = new SeededRandom(5, mulberry32);
    const trueP95 = Math.exp(1.6448536);
    let covered = 0;
    for (let round = 0; round < 1000; round++) {
      const values = Array.from({ length: 400 }, () => Math.exp(random.normal()));
      const [low, high] = quantileInterval(TDigest.fromValues(values), 0.95, 1);
      if (low <= trueP95 && trueP95 <= high) covered += 1;
    }
    // Three standard errors of a binomial count of 1000 at 0.95 are 21.
    expect(Math.abs(covered - 950)).toBeLessThanOrEqual(21);
  });

  it('widens with the dispersion and ends at the extremes', () => {
    const digest = TDigest.fromValues(Array.from({ length: 1000 }, (_, i) => i + 1));
    const [low, high] = quantileInterval(digest, 0.9, 1);
    const [lower, higher] = quantileInterval(digest, 0.9, 4);
    expect(lower).toBeLessThan(low);
    expect(higher).toBeGreaterThan(high);
    expect(quantileInterval(digest, 0.99, 1e6)).toEqual([1, 1000]);
  });
});
