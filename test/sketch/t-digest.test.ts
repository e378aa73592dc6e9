import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TDigest } from '../../src/sketch/t-digest.ts';
import { drawDistribution } from './distributions.ts';
import { worstError } from './worst-error.ts';

const durations = fc.array(
  fc.oneof(
    fc.double({ min: 0, max: 1e6, noNaN: true }),
    fc.integer({ min: 0, max: 50 }),
    fc.constant(7),
  ),
  { minLength: 1, maxLength: 300 },
);
const seeded = { seed: 20261101, numRuns: 200 };

function weightOf(digest: TDigest): number {
  return [...digest.weights].reduce((sum, weight) => sum + weight, 0);
}

describe('refused', () => {
  it.each([
    ['descending means', [2, 1], [1, 1]],
    ['a NaN mean', [Number.NaN, 1], [1, 1]],
    ['a NaN mean further on', [1, Number.NaN], [1, 1]],
    ['no weight', [1, 2], [1, 0]],
    ['a negative weight', [1], [-1]],
    ['a NaN weight', [1], [Number.NaN]],
    ['an infinite weight', [1], [Number.POSITIVE_INFINITY]],
    ['fewer weights than means', [1, 2], [1]],
  ])('%s', (_, means, weights) => {
    expect(() => TDigest.fromCentroids(means, weights, means.length)).toThrow(/^BUG: /);
  });
});

describe('an empty digest', () => {
  it('has no quantile and no cdf', () => {
    for (const empty of [
      TDigest.fromValues([]),
      TDigest.merge([]),
      TDigest.merge([TDigest.fromValues([])]),
    ]) {
      expect(empty.size).toBe(0);
      expect(empty.count).toBe(0);
      expect(empty.quantile(0.5)).toBeNaN();
      expect(empty.cdf(1)).toBeNaN();
    }
  });
});

describe('quantile', () => {
  it('treats singletons as exact values', () => {
    const digest = TDigest.fromCentroids([1, 2, 10, 100], [1, 1, 1, 1], 4);
    expect([0, 0.25, 0.26, 0.5, 0.75, 0.76, 1].map((q) => digest.quantile(q))).toEqual([
      1, 1, 2, 2, 10, 100, 100,
    ]);
  });

  it('is linear between the middles of heavier centroids, and flat beyond the outermost', () => {
    const digest = TDigest.fromCentroids([10, 20], [4, 4], 2);
    expect([0, 0.25, 0.375, 0.5, 0.75, 1].map((q) => digest.quantile(q))).toEqual([
      10, 10, 12.5, 15, 20, 20,
    ]);
  });

  it('is linear from the edge of a singleton to the middle of its neighbour', () => {
    const digest = TDigest.fromCentroids([10, 20, 40], [4, 1, 4], 3);
    expect([2, 3, 4, 4.5, 5, 6, 7].map((rank) => digest.quantile(rank / 9))).toEqual([
      10, 15, 20, 20, 20, 30, 40,
    ]);
  });

  it('clamps q and returns NaN for NaN', () => {
    const digest = TDigest.fromValues([1, 2, 3]);
    expect(digest.quantile(-1)).toBe(1);
    expect(digest.quantile(2)).toBe(3);
    expect(digest.quantile(Number.NaN)).toBeNaN();
    expect(digest.cdf(Number.NaN)).toBeNaN();
  });

  it('is exact for as many values as there are centroids', () => {
    const values = drawDistribution('lognormal', 100, 3);
    const digest = TDigest.fromValues(values, 100);
    const sorted = values.sort();
    for (let i = 1; i <= 100; i++) expect(digest.quantile((i - 0.5) / 100)).toBe(sorted[i - 1]);
  });

  it('never falls as q rises, and stays between minimum and maximum', () => {
    fc.assert(
      fc.property(durations, fc.integer({ min: 1, max: 120 }), (values, maxCentroids) => {
        const digest = TDigest.fromValues(values, maxCentroids);
        expect(digest.size).toBeLessThanOrEqual(maxCentroids);
        let previous = Math.min(...values);
        for (let i = 0; i <= 200; i++) {
          const value = digest.quantile(i / 200);
          expect(value).toBeGreaterThanOrEqual(previous);
          previous = value;
        }
        expect(previous).toBeLessThanOrEqual(Math.max(...values));
      }),
      seeded,
    );
  });
});

describe('cdf', () => {
  it('is the fraction at or below, a step at a singleton', () => {
    const digest = TDigest.fromCentroids([1, 2, 10, 100], [1, 1, 1, 1], 4);
    expect([0.5, 1, 1.9, 2, 10, 99, 100, 101].map((x) => digest.cdf(x))).toEqual([
      0, 0.25, 0.25, 0.5, 0.75, 0.75, 1, 1,
    ]);
  });

  it('inverts quantile wherever quantile rises', () => {
    fc.assert(
      fc.property(durations, fc.integer({ min: 1, max: 999 }), (values, permille) => {
        const digest = TDigest.fromValues(values, 40);
        const q = permille / 1000;
        const value = digest.quantile(q);
        // At or below the value lies at least q of the weight; below it, strictly, at most q.
        expect(digest.cdf(value)).toBeGreaterThanOrEqual(q - 1e-6);
        const justBelow = value - Math.max(Math.abs(value), 1e-9) * 1e-9;
        if (justBelow > digest.quantile(0)) expect(digest.cdf(justBelow)).toBeLessThan(q + 1e-6);
      }),
      seeded,
    );
  });

  it('never falls as x rises', () => {
    fc.assert(
      fc.property(
        durations,
        fc.array(fc.double({ min: 0, max: 1e6, noNaN: true })),
        (values, xs) => {
          const digest = TDigest.fromValues(values, 30);
          const parts = xs.sort((a, b) => a - b).map((x) => digest.cdf(x));
          expect(parts).toEqual([...parts].sort((a, b) => a - b));
        },
      ),
      seeded,
    );
  });
});

describe('merge', () => {
  it('keeps the count exactly and the mean to rounding', () => {
    fc.assert(
      fc.property(fc.array(durations, { maxLength: 6 }), (groups) => {
        const merged = TDigest.merge(
          groups.map((values) => TDigest.fromValues(values, 20)),
          30,
        );
        const all = groups.flat();
        expect(merged.size).toBeLessThanOrEqual(30);
        expect(merged.count).toBe(all.length);
        expect(weightOf(merged)).toBe(all.length);
        const sum = all.reduce((a, b) => a + b, 0);
        const mergedSum = [...merged.means].reduce(
          (a, mean, i) => a + mean * (merged.weights[i] ?? 0),
          0,
        );
        expect(Math.abs(mergedSum - sum)).toBeLessThanOrEqual(1e-9 * sum + 1e-9);
      }),
      seeded,
    );
  });

  it('gives the same for every order of its digests', () => {
    const digests = Array.from({ length: 9 }, (_, i) =>
      TDigest.fromValues(drawDistribution('exponential', 500, i), 51),
    );
    const forwards = TDigest.merge(digests);
    const backwards = TDigest.merge([...digests].reverse());
    expect(backwards.means).toEqual(forwards.means);
    expect(backwards.weights).toEqual(forwards.weights);
  });

  it.each(['lognormal', 'bimodal cliff', 'Pareto 1.5'])(
    'of merges is as good as one merge: %s within 1 %% of the value or 5 %% of the tail',
    (name) => {
      const values = drawDistribution(name, 60_000, 8);
      const leaves = Array.from({ length: 60 }, (_, i) =>
        TDigest.fromValues(values.subarray(i * 1000, (i + 1) * 1000), 51),
      );
      const left = leaves.reduce((all, leaf) => TDigest.merge([all, leaf]));
      const middle = TDigest.merge([0, 20, 40].map((i) => TDigest.merge(leaves.slice(i, i + 20))));
      values.sort();
      for (const digest of [left, middle, TDigest.merge(leaves)]) {
        expect(digest.count).toBe(60_000);
        expect(worstError(values, (q) => digest.quantile(q)).score).toBeLessThanOrEqual(1);
      }
    },
  );

  it('leaves its inputs alone', () => {
    const one = TDigest.fromValues([3, 1, 2]);
    const before = Array.from(one.means);
    TDigest.merge([one, TDigest.fromValues([5, 4])], 2);
    expect(Array.from(one.means)).toEqual(before);
  });

  it('counts beyond 2^32 exactly', () => {
    const heavy = TDigest.fromCentroids([1, 2], [2 ** 45, 3], 2);
    expect(TDigest.merge([heavy, heavy, heavy]).count).toBe(3 * (2 ** 45 + 3));
    expect(weightOf(TDigest.merge([heavy, heavy, heavy], 2))).toBe(3 * (2 ** 45 + 3));
  });
});
