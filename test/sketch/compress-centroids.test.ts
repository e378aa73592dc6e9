import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compressCentroids } from '../../src/sketch/compress-centroids.ts';

function compress(
  centroids: readonly (readonly [number, number])[],
  maxCentroids: number,
  mayCut = true,
) {
  const room = Math.max(centroids.length, maxCentroids);
  const means = new Float64Array(room);
  const weights = new Float64Array(room);
  means.set(centroids.map(([mean]) => mean));
  weights.set(centroids.map(([, weight]) => weight));
  const n = compressCentroids(means, weights, centroids.length, maxCentroids, mayCut);
  return Array.from({ length: n }, (_, i) => [means[i] ?? 0, weights[i] ?? 0] as const);
}

describe('compressCentroids', () => {
  it('refuses to compress into nothing', () => {
    expect(() => compress([[1, 1]], 0)).toThrow('BUG: maxCentroids must be at least 1: it is 0');
  });

  it('leaves an empty digest empty', () => {
    expect(compress([], 51)).toEqual([]);
  });

  it('keeps single values as they are while they fit', () => {
    const values = [0, 0, 1, 1.01, 5, 1000].map((mean) => [mean, 1] as const);
    expect(compress(values, 51)).toEqual(values);
  });

  it('keeps the lowest and the highest single value apart', () => {
    const values = Array.from({ length: 1000 }, (_, i) => [100 + i, 1] as const);
    const result = compress(values, 20);
    expect(result.length).toBeLessThanOrEqual(20);
    expect(result[0]).toEqual([100, 1]);
    expect(result.at(-1)).toEqual([1099, 1]);
  });

  it('does not join across a jump: no centroid lies in the gap', () => {
    const low = Array.from({ length: 300 }, (_, i) => [20 + i / 100, 10] as const);
    const high = Array.from({ length: 300 }, (_, i) => [500 + i / 10, 1] as const);
    const means = compress([...low, ...high], 51).map(([mean]) => mean);
    expect(means.filter((mean) => mean > 23 && mean < 500)).toEqual([]);
  });

  it('splits heavy centroids beside a jump into pieces that grow lighter towards it', () => {
    const result = compress(
      [
        [1, 993],
        [100, 7],
      ],
      51,
    );
    const low = result.filter(([mean]) => mean === 1).map(([, weight]) => weight);
    expect(low.reduce((a, b) => a + b, 0)).toBe(993);
    expect(low.at(-1)).toBe(1);
    expect(low).toEqual([...low].sort((a, b) => b - a));
    expect(result.slice(low.length).every(([mean]) => mean === 100)).toBe(true);
  });

  it('makes edges of a jump too heavy for ClickHouse to join across it', () => {
    const result = compress(
      [
        [1, 60_000],
        [100, 40_000],
      ],
      51,
    );
    const end = result.findIndex(([mean]) => mean === 100);
    const [lower, upper] = [result[end - 1]?.[1] ?? 0, result[end]?.[1] ?? 0];
    expect(lower + upper).toBeGreaterThan(0.04 * 100_000 * 0.6 * 0.4);
    expect(lower).toBeLessThan(0.05 * 40_000);
  });

  it('never exceeds its limit, keeps weight, order and range, for any input', () => {
    const centroid = fc.tuple(
      fc.oneof(fc.double({ min: 0, max: 1e9, noNaN: true }), fc.integer({ min: 0, max: 9 })),
      fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 1e9 })),
    );
    fc.assert(
      fc.property(
        fc.array(centroid, { minLength: 1, maxLength: 200 }),
        fc.integer({ min: 1, max: 80 }),
        (unsorted, maxCentroids) => {
          const centroids = unsorted.sort(([a], [b]) => a - b);
          const result = compress(centroids, maxCentroids);
          expect(result.length).toBeLessThanOrEqual(maxCentroids);
          const weight = (all: readonly (readonly number[])[]) =>
            all.reduce((sum, [, w]) => sum + (w ?? 0), 0);
          expect(weight(result)).toBe(weight(centroids));
          let previous = centroids[0]?.[0] ?? 0;
          for (const [mean, pieceWeight] of result) {
            expect(mean).toBeGreaterThanOrEqual(previous);
            expect(pieceWeight).toBeGreaterThan(0);
            previous = mean;
          }
          expect(previous).toBeLessThanOrEqual(centroids.at(-1)?.[0] ?? 0);
        },
      ),
      { seed: 7, numRuns: 500 },
    );
  });
});
