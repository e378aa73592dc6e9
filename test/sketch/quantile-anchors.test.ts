import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anchorCentroids, findAnchors, placeAnchors } from '../../src/sketch/quantile-anchors.ts';
import { digestBits, shortMs } from '../../src/sketch/short-ms.ts';
import { storedQuantiles } from '../../src/sketch/stored-quantiles.ts';
import { TDigest } from '../../src/sketch/t-digest.ts';
import { poolDigest } from './pool-digest.ts';

/** Value of nearest rank. */
function exact(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(q * sorted.length - 1e-9) - 1)] as number;
}

describe('anchors', () => {
  it('make a state return the stored quantiles exactly where each value has its own bucket', () => {
    const steps = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 33, maxLength: 250 });
    fc.assert(
      fc.property(steps, (gaps) => {
        let at = 0;
        const values = gaps.map((gap) => {
          at += gap;
          return 2 ** -18 * 1.04 ** at;
        });
        const digest = poolDigest(values);
        for (const q of storedQuantiles) {
          expect(digest.quantile(q)).toBe(shortMs(exact(values, q), digestBits));
        }
      }),
      { seed: 4, numRuns: 100 },
    );
  });

  it('split the centroid that they lie in: the same weight, the same sum', () => {
    const means = new Float64Array(4 + anchorCentroids);
    const weights = new Float64Array(4 + anchorCentroids);
    // 10 buckets of one value each, then joined to four centroids.
    const values = Float64Array.from({ length: 10 }, (_, i) => 2 ** i);
    findAnchors(values, new Float64Array(10).fill(1), 10);
    means.set([1, (2 + 4 + 8 + 16 + 32) / 5, (64 + 128 + 256) / 3, 512]);
    weights.set([1, 5, 3, 1]);
    const n = placeAnchors(means, weights, 4);
    // p50 is the fifth value, p90 the ninth, p95 and higher the tenth, which stands alone.
    expect([...weights.subarray(0, n)]).toEqual([1, 3, 1, 1, 2, 1, 1]);
    for (const [i, mean] of [1, 14 / 3, 16, 32, 96, 256, 512].entries())
      expect(means[i]).toBeCloseTo(mean, 9);
    expect(TDigest.fromCentroids(means, weights, n).quantile(0.5)).toBe(16);
  });

  it('treat the values of a bucket as evenly spread, up to its nearer bound', () => {
    const means = new Float64Array(3 + anchorCentroids);
    const weights = new Float64Array(3 + anchorCentroids);
    // 64 to 65 is a bucket; a neighbour on either side keeps it one of several.
    findAnchors(Float64Array.of(60, 64.5, 70), Float64Array.of(1, 100, 1), 3);
    means.set([60, 64.5, 70]);
    weights.set([1, 100, 1]);
    const n = placeAnchors(means, weights, 3);
    const digest = TDigest.fromCentroids(means, weights, n);
    // Of 102 values p50 is the 51st, the 50th of the bucket.
    expect(digest.quantile(0.5)).toBeCloseTo(64 + 49.5 / 100, 9);
    expect(digest.quantile(0.9)).toBeCloseTo(64 + 90.5 / 100, 9);
    expect(digest.count).toBe(102);
  });

  it('are left out where a split centroid could not keep its sum and order', () => {
    const means = Float64Array.of(5, 5, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    const weights = Float64Array.of(60, 39, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    // Computed from other values than those in the centroids.
    findAnchors(Float64Array.of(1, 9), Float64Array.of(50, 50), 2);
    expect(placeAnchors(means, weights, 3)).toBe(3);
    expect([...means.subarray(0, 3)]).toEqual([5, 5, 5]);
    expect([...weights.subarray(0, 3)]).toEqual([60, 39, 1]);
  });
});
