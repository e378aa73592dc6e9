import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PackedDigests } from '../../src/sketch/packed-digests.ts';
import { TDigest } from '../../src/sketch/t-digest.ts';

const centroid = fc.tuple(
  fc.double({ min: 0, max: 1e9, noNaN: true }),
  fc.integer({ min: 1, max: 2 ** 24 }),
);
const digests = fc.array(fc.array(centroid, { maxLength: 300 }), { maxLength: 6 });

describe('PackedDigests', () => {
  it('gives digests of the added values, means rounded to floats, in one array of their size', () => {
    const packed = new PackedDigests();
    fc.assert(
      fc.property(digests, fc.double({ min: 0, max: 1, noNaN: true }), (drawn, q) => {
        const expected = drawn.map((each) => {
          const sorted = [...each].sort(([a], [b]) => a - b);
          const means = sorted.map(([mean]) => mean);
          const weights = sorted.map(([, weight]) => weight);
          packed.add([...means, -1], weights, means.length);
          return TDigest.fromCentroids(means.map(Math.fround), weights);
        });
        const found = packed.drain();
        expect(found.map(plainOf)).toEqual(expected.map(plainOf));
        const middles = expected.map((each) => each.quantile(q));
        expect(found.map((each) => each.quantile(q))).toEqual(middles);
        const parts = middles.map((x, i) => expected[i]?.cdf(x));
        expect(found.map((each, i) => each.cdf(middles[i] ?? 0))).toEqual(parts);
        for (const { centroids } of found) {
          expect(centroids).toBe(found[0]?.centroids);
          expect(centroids).toHaveLength(2 * drawn.flat().length);
        }
      }),
      { seed: 20261123, numRuns: 200 },
    );
  });

  it('leaves earlier digests as they were', () => {
    const packed = new PackedDigests();
    packed.add([1, 2], [3, 4]);
    const [first] = packed.drain();
    packed.add([5], [6]);
    expect(packed.drain().map(plainOf)).toEqual([{ means: [5], weights: [6], count: 6 }]);
    expect(first && plainOf(first)).toEqual({ means: [1, 2], weights: [3, 4], count: 7 });
    expect(packed.drain()).toEqual([]);
  });

  it('refuses invalid centroids, and drops them', () => {
    const packed = new PackedDigests();
    packed.add([2, 1], [1, 1]);
    expect(() => packed.drain()).toThrow('BUG: centroid means must ascend: 2, 1 at 1');
    packed.add([1], [0]);
    expect(() => packed.drain()).toThrow('BUG: centroid 0 has the weight 0');
    expect(packed.drain()).toEqual([]);
  });
});

function plainOf({ means, weights, count }: TDigest) {
  return { means: [...means], weights: [...weights], count };
}
