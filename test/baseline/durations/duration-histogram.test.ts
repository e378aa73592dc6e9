import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DurationHistogram } from '../../../src/baseline/durations/duration-histogram.ts';
import { Random } from '../../../src/generate/random.ts';
import { Arena } from '../../../src/memory/arena.ts';
import { highWord } from '../../../src/sketch/high-word.ts';
import { TDigest } from '../../../src/sketch/t-digest.ts';

describe('DurationHistogram', () => {
  it('returns quantiles of all values to half a percent', () => {
    const random = new Random('durations');
    const all: number[] = [];
    const rooms = Arena.shared().scope();
    const [one, other] = [DurationHistogram.in(rooms), DurationHistogram.in(rooms)];
    for (let window = 0; window < 200; window++) {
      const values = Array.from({ length: 100 }, () => random.lognormal(40, 0.8));
      all.push(...values);
      (window % 2 === 0 ? one : other).add(TDigest.fromValues(values));
    }
    const digest = DurationHistogram.digestOf([one, other]);
    all.sort((a, b) => a - b);
    expect(digest.count).toBe(20_000);
    for (const q of [0.5, 0.9, 0.95, 0.99]) {
      const exact = all[Math.ceil(q * all.length) - 1] as number;
      expect(Math.abs(digest.quantile(q) / exact - 1)).toBeLessThan(0.005);
    }
  });

  it('holds durations below a microsecond, and of days', () => {
    const histogram = DurationHistogram.in(Arena.shared().scope());
    histogram.add(TDigest.fromValues([0, 1e-9, 1e9]));
    const digest = DurationHistogram.digestOf([histogram]);
    expect(digest.count).toBe(3);
    expect(digest.quantile(1)).toBe(1e9);
    expect(digest.quantile(0)).toBeLessThan(1e-8);
  });

  it('holds values that round across the bound of a bucket', () => {
    const histogram = DurationHistogram.in(Arena.shared().scope());
    histogram.add(TDigest.fromCentroids([0.5, 1 - 2 ** -40], [1, 3]));
    const { means, weights } = DurationHistogram.digestOf([histogram]);
    expect([...means, ...weights]).toEqual([0.5, 1, 1, 3]);
  });

  it('adds up, to the last bit, like a plain loop, for any durations', () => {
    const centroids = fc.array(
      fc.tuple(fc.float({ min: 0, max: 1e7, noNaN: true }), fc.nat({ max: 99 })),
    );
    fc.assert(
      fc.property(fc.array(fc.array(centroids)), (parts) => {
        const rooms = Arena.shared().scope();
        const all = new Map<number, { requests: number; ms: number }>();
        const histograms = parts.map((windows) => {
          const histogram = DurationHistogram.in(rooms);
          const sums = new Map<number, { requests: number; ms: number }>();
          for (const drawn of windows) {
            const sorted = [...drawn].sort(([a], [b]) => a - b);
            const weights = sorted.map(([, weight]) => weight + 1);
            const means = sorted.map(([ms]) => ms);
            histogram.add(TDigest.fromCentroids(means, weights));
            means.forEach((ms, i) => {
              const weight = weights[i] as number;
              addTo(sums, highWord(Math.max(ms, 2 ** -10)) >>> 15, weight, weight * ms);
            });
          }
          for (const [bucket, { requests, ms }] of sums) addTo(all, bucket, requests, ms);
          return histogram;
        });
        const sorted = [...all].sort(([a], [b]) => a - b).map(([, sum]) => sum);
        const digest = DurationHistogram.digestOf(histograms);
        expect([...digest.weights]).toEqual(sorted.map(({ requests }) => requests));
        let previous = 0;
        const means = sorted.map(({ requests, ms }) => {
          previous = Math.max(previous, ms / requests);
          return previous;
        });
        expect([...digest.means]).toEqual(means);
      }),
      { seed: 20261123, numRuns: 100 },
    );
  });
});

function addTo(
  sums: Map<number, { requests: number; ms: number }>,
  bucket: number,
  requests: number,
  ms: number,
): void {
  const sum = sums.get(bucket) ?? { requests: 0, ms: 0 };
  sums.set(bucket, { requests: sum.requests + requests, ms: sum.ms + ms });
}
