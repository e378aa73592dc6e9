import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  binomialCounts,
  thinnedCounts,
  type WeightedCount,
} from '../../src/compare/thinned-counts.ts';

const sum = (counts: readonly WeightedCount[]) =>
  counts.reduce((all, { weight }) => all + weight, 0);
const mean = (counts: readonly WeightedCount[]) =>
  counts.reduce((all, { count, weight }) => all + count * weight, 0);

function choose(n: number, k: number): number {
  let product = 1;
  for (let i = 1; i <= k; i++) product *= (n - k + i) / i;
  return product;
}

describe('thinnedCounts', () => {
  it('is the hypergeometric distribution', () => {
    const counts = thinnedCounts(4, 12, 5);
    for (const { count, weight } of counts) {
      expect(weight).toBeCloseTo((choose(4, count) * choose(8, 5 - count)) / choose(12, 5), 12);
    }
    expect(counts.map(({ count }) => count).toSorted()).toEqual([0, 1, 2, 3, 4]);
  });

  it.each([
    [0, 10, 4, 0],
    [10, 10, 4, 4],
    [7, 7, 7, 7],
    [9, 10, 10, 9],
    [610, 610, 589, 589],
  ])('of %i slow ones of %i, %i drawn, is certain', (slow, requests, drawn, count) => {
    expect(thinnedCounts(slow, requests, drawn)).toEqual([{ count, weight: 1 }]);
  });

  it('of any numbers sums to 1, stays in range and keeps the mean', () => {
    const numbers = fc.integer({ min: 1, max: 20_000 }).chain((requests) =>
      fc.record({
        requests: fc.constant(requests),
        slow: fc.double({ min: 0, max: requests, noNaN: true }),
        drawn: fc.integer({ min: 1, max: requests }),
      }),
    );
    fc.assert(
      fc.property(numbers, ({ requests, slow, drawn }) => {
        const counts = thinnedCounts(slow, requests, drawn);
        expect(sum(counts)).toBeCloseTo(1, 9);
        for (const { count } of counts) {
          expect(count).toBeGreaterThanOrEqual(0);
          expect(count).toBeLessThanOrEqual(Math.min(slow, drawn) + 1e-9);
        }
        const whole = Math.floor(slow);
        const expected = (whole * drawn) / requests;
        const off = mean(thinnedCounts(whole, requests, drawn)) - expected;
        expect(Math.abs(off)).toBeLessThan(0.01 + 0.01 * Math.sqrt(expected));
        expect(counts.length).toBeLessThan(60);
      }),
      { seed: 1, numRuns: 2_000 },
    );
  });
});

describe('binomialCounts', () => {
  it('is the binomial distribution', () => {
    for (const { count, weight } of binomialCounts(6, 0.3)) {
      expect(weight).toBeCloseTo(choose(6, count) * 0.3 ** count * 0.7 ** (6 - count), 5);
    }
    expect(mean(binomialCounts(600, 0.005))).toBeCloseTo(3, 4);
    expect(mean(binomialCounts(60_000, 0.4))).toBeCloseTo(24_000, 0);
  });

  it.each([
    [10, 0, 0],
    [10, 1, 10],
    [10, 2, 10],
    [10, Number.NaN, 0],
    [0, 0.5, 0],
  ])('of %i at %d is certain', (trials, p, count) => {
    expect(binomialCounts(trials, p)).toEqual([{ count, weight: 1 }]);
  });
});
