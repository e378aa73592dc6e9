import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { joinByRank } from '../../src/sketch/join-by-rank.ts';

const MOST = 57;

/** Joins centroids given from the lowest up; undefined if they do not fit. */
function joined(centroids: readonly (readonly [number, number])[]) {
  const means = new Float64Array(Math.max(centroids.length, MOST));
  const weights = new Float64Array(means.length);
  centroids.forEach(([mean, weight], i) => {
    means[i] = mean;
    weights[i] = weight;
  });
  const n = joinByRank(means, weights, centroids.length, MOST);
  if (n === 0) return undefined;
  return Array.from({ length: n }, (_, i) => [means[i] as number, weights[i] as number] as const);
}

const singles = (count: number) => Array.from({ length: count }, (_, i) => [i + 1, 1] as const);

describe('joinByRank', () => {
  it('keeps 22 values from the top, then joins two, four and, below p40, eight', () => {
    const result = joined(singles(100)) ?? [];
    expect(result.map(([, weight]) => weight)).toEqual([
      ...[1, 7, 8, 8, 8, 8, 4, 4, 4, 4],
      ...new Array(11).fill(2),
      ...new Array(22).fill(1),
    ]);
  });

  it('cuts a centroid of many values into pieces of the same mean', () => {
    const result = joined([
      [5, 30],
      [7, 1],
    ]);
    expect(result?.at(-1)).toEqual([7, 1]);
    expect(result?.slice(0, -1).every(([mean]) => mean === 5)).toBe(true);
    expect(result?.reduce((sum, [, weight]) => sum + weight, 0)).toBe(31);
  });

  it('leaves more values than fit as they are', () => {
    const fits = (count: number) => joined(singles(count)) !== undefined;
    expect([fits(249), fits(250)]).toEqual([true, false]);
    const means = Float64Array.from(singles(400), ([mean]) => mean);
    const weights = new Float64Array(400).fill(1);
    joinByRank(means, weights, 400, MOST);
    expect(Array.from(means)).toEqual(singles(400).map(([mean]) => mean));
    expect(weights).toEqual(new Float64Array(400).fill(1));
  });

  it('of no values makes none', () => {
    expect(joinByRank(new Float64Array(0), new Float64Array(0), 0, MOST)).toBe(0);
  });

  it('keeps count and sum, ascends, and is heaviest at an eleventh of what is above, for any values', () => {
    const centroid = fc.tuple(
      fc.oneof(fc.double({ min: 0, max: 3.6e6, noNaN: true }), fc.constantFrom(0, 1, 2 ** 43)),
      fc.integer({ min: 1, max: 20 }),
    );
    fc.assert(
      fc.property(fc.array(centroid, { minLength: 1, maxLength: 60 }), (drawn) => {
        const given = drawn.sort(([a], [b]) => a - b);
        const result = joined(given);
        if (result === undefined) return;
        const count = given.reduce((sum, [, weight]) => sum + weight, 0);
        expect(result.reduce((sum, [, weight]) => sum + weight, 0)).toBe(count);
        const sum = given.reduce((total, [mean, weight]) => total + mean * weight, 0);
        const after = result.reduce((total, [mean, weight]) => total + mean * weight, 0);
        expect(Math.abs(after - sum)).toBeLessThanOrEqual(1e-12 * sum);
        let above = 0;
        let previous = (given.at(-1) as (typeof given)[0])[0];
        for (const [mean, weight] of result.toReversed()) {
          expect(mean).toBeLessThanOrEqual(previous);
          const share = above < 0.6 * count ? 1 / 11 : 2 / 11;
          expect(weight).toBeLessThanOrEqual(Math.max(1, share * above));
          previous = mean;
          above += weight;
        }
        expect(previous).toBeGreaterThanOrEqual((given[0] as (typeof given)[0])[0]);
      }),
      { seed: 5, numRuns: 500 },
    );
  });
});
