import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SketchPool, stateCentroids } from '../../src/sketch/sketch-pool.ts';
import { weyl32 } from '../base/seeded-random.ts';
import { drawDistribution } from './distributions.ts';

const means = new Float64Array(stateCentroids);
const weights = new Float64Array(stateCentroids);

describe('SketchPool', () => {
  it.each([-1, 1, 5000, 2 ** 32, Number.NaN])('refuses slot %d, which is not allocated', (slot) => {
    const pool = new SketchPool();
    pool.allocate();
    expect(() => pool.add(slot, 1)).toThrow(/^BUG: /);
    expect(() => pool.requests(slot)).toThrow(/^BUG: /);
    expect(() => pool.centroids(slot, means, weights)).toThrow(/^BUG: /);
    expect(pool.requests(0)).toBe(0);
  });

  it('an empty slot has no centroids and no extremes', () => {
    const pool = new SketchPool();
    const slot = pool.allocate();
    expect(pool.centroids(slot, means, weights)).toBe(0);
    expect([pool.requests(slot), pool.sumUs(slot)]).toEqual([0, 0]);
    expect([pool.minMs(slot), pool.maxMs(slot)]).toEqual([Infinity, -Infinity]);
  });

  it.each([1, 6, 7, 8, 9, 31, 32])('returns up to 32 values unchanged, sorted: %d', (count) => {
    const pool = new SketchPool();
    const [slot, other] = [pool.allocate(), pool.allocate()];
    const values = drawDistribution('range of 10^9', count, 1);
    for (const value of values) {
      pool.add(slot, value);
      pool.add(other, 2 * value);
    }
    expect(pool.centroids(slot, means, weights)).toBe(count);
    expect(means.slice(0, count)).toEqual(values.sort());
    expect(weights.slice(0, count)).toEqual(new Float64Array(count).fill(1));
    expect([pool.requests(slot), pool.requests(other)]).toEqual([count, count]);
    expect([pool.minMs(slot), pool.maxMs(slot)]).toEqual([values[0], values[count - 1]]);
    expect(pool.maxMs(other)).toBe(2 * (values[count - 1] as number));
  });

  it('counts, sums, minima and maxima are those of a plain reference, interleaved over slots', () => {
    const random = weyl32(11);
    const slots = 3000;
    const pool = new SketchPool();
    const reference = Array.from({ length: slots }, () => [] as number[]);
    for (let i = 0; i < slots; i++) pool.allocate();
    for (let i = 0; i < 100_000; i++) {
      // Squared, so that some slots stay raw, some spill, and a few are busy.
      const slot = Math.floor(random() ** 3 * slots);
      const value = random() < 0.01 ? 0 : 10 ** (random() * 9 - 4);
      pool.add(slot, value);
      reference[slot]?.push(value);
    }
    expect(reference.some((values) => values.length > 1000)).toBe(true);
    for (const [slot, values] of reference.entries()) {
      const read = () => [
        ...[pool.requests(slot), pool.sumUs(slot), pool.minMs(slot), pool.maxMs(slot)],
      ];
      const sumUs = values.reduce((sum, ms) => sum + Math.round(ms * 1000), 0);
      const counted = [values.length, sumUs, Math.min(...values), Math.max(...values)];
      expect(read()).toEqual(counted);
      const n = pool.centroids(slot, means, weights);
      // Waiting values have been counted into their buckets, an odd number of them too.
      expect(read()).toEqual(counted);
      expect(n).toBeLessThanOrEqual(stateCentroids);
      const weight = weights.subarray(0, n).reduce((sum, w) => sum + w, 0);
      expect(weight).toBe(values.length);
      if (n === 0) continue;
      expect(means[0]).toBe(Math.min(...values));
      expect(means[n - 1]).toBe(Math.max(...values));
    }
  });

  it('centroids ascend within the extremes and keep the sum, for any durations', () => {
    const ms = fc.oneof(
      fc.double({ min: 0, max: 3.6e6, noNaN: true }),
      fc.constantFrom(0, -0, 1, 2, 2 ** -25, 2 ** 43, 1e15, 0.1, 1 - 2 ** -53),
    );
    fc.assert(
      fc.property(fc.array(ms, { minLength: 33, maxLength: 200 }), (values) => {
        const pool = new SketchPool();
        const slot = pool.allocate();
        for (const value of values) pool.add(slot, value);
        const n = pool.centroids(slot, means, weights);
        let [weight, sum, previous] = [0, 0, Math.min(...values)];
        for (let i = 0; i < n; i++) {
          const mean = means[i] ?? Number.NaN;
          expect(mean).toBeGreaterThanOrEqual(previous);
          previous = mean;
          weight += weights[i] ?? 0;
          sum += mean * (weights[i] ?? 0);
        }
        expect(previous).toBeLessThanOrEqual(Math.max(...values));
        expect(weight).toBe(values.length);
        const exact = values.reduce((a, b) => a + b, 0);
        expect(Math.abs(sum - exact)).toBeLessThanOrEqual(1e-9 * exact + 1e-9);
      }),
      { seed: 3, numRuns: 200 },
    );
  });

  it('counts and extremes are independent of the order of values, and so are quantile weights', () => {
    const values = drawDistribution('whole ms', 5000, 2);
    const read = (ordered: Float64Array) => {
      const pool = new SketchPool();
      const slot = pool.allocate();
      for (const value of ordered) pool.add(slot, value);
      const n = pool.centroids(slot, means, weights);
      return [
        pool.sumUs(slot),
        Array.from(means.subarray(0, n)),
        Array.from(weights.subarray(0, n)),
      ];
    };
    expect(read(values.slice().sort())).toEqual(read(values));
  });

  it('a reset clears everything, gives the memory back, and starts clean', () => {
    const pool = new SketchPool();
    const fill = (factor: number) => {
      for (let slot = 0; slot < 50; slot++) {
        pool.allocate();
        for (const value of drawDistribution('lognormal', 500, slot))
          pool.add(slot, value * factor);
      }
      const n = pool.centroids(49, means, weights);
      return Array.from(means.subarray(0, n));
    };
    const first = fill(1);
    const { bytes } = pool;
    pool.reset();
    expect(() => pool.requests(0)).toThrow(/^BUG: /);
    expect([bytes > 0, pool.bytes]).toEqual([true, 0]);
    fill(1000);
    pool.reset();
    expect(fill(1)).toEqual(first);
  });

  it('holds 100,000 slots of few values in 7 MB', () => {
    const pool = new SketchPool();
    for (let i = 0; i < 100_000; i++) {
      const slot = pool.allocate();
      for (let k = 0; k < 3; k++) pool.add(slot, 10 + k);
    }
    expect(pool.bytes).toBeGreaterThan(100_000 * 32);
    expect(pool.bytes).toBeLessThan(7e6);
  });
});

describe('values of a slot without those of another', () => {
  /** Centroids of all values but some of them, as sums and counts too. */
  function remaining(kept: readonly number[], out: readonly number[]) {
    const [all, part] = [new SketchPool(), new SketchPool()];
    const [slot, other] = [all.allocate(), part.allocate()];
    for (const ms of [...out, ...kept]) all.add(slot, ms);
    for (const ms of out) part.add(other, ms);
    const n = all.centroidsWithout(slot, part, other, means, weights);
    // Nothing of it stays behind.
    const again = [new Float64Array(stateCentroids), new Float64Array(stateCentroids)] as const;
    expect(all.centroidsWithout(slot, part, other, ...again)).toBe(n);
    expect(again[0].subarray(0, n)).toEqual(means.subarray(0, n));
    return Array.from({ length: n }, (_, i) => [means[i] as number, weights[i] as number] as const);
  }

  const value = fc.integer({ min: 1, max: 400 });

  it('are exactly the others while the slot has single values', () => {
    fc.assert(
      fc.property(
        fc.array(value, { maxLength: 16 }),
        fc.array(value, { minLength: 1, maxLength: 16 }),
        (kept, out) => {
          expect(remaining(kept, out)).toEqual(kept.toSorted((a, b) => a - b).map((ms) => [ms, 1]));
        },
      ),
    );
  });

  it('have the count and the sum of the others, and stay within their buckets', () => {
    const long = fc.array(value, { minLength: 0, maxLength: 400 });
    fc.assert(
      fc.property(long, fc.array(value, { minLength: 33, maxLength: 400 }), (kept, out) => {
        const found = remaining(kept, out);
        expect(found.reduce((sum, [, weight]) => sum + weight, 0)).toBe(kept.length);
        const sum = kept.reduce((total, ms) => total + ms, 0);
        expect(found.reduce((total, [ms, weight]) => total + ms * weight, 0)).toBeCloseTo(sum, 4);
        for (const [i, [ms]] of found.entries()) {
          expect(ms).toBeGreaterThanOrEqual(i === 0 ? 0 : (found[i - 1]?.[0] as number));
        }
        if (kept.length === 0) return;
        const [least, largest] = [Math.min(...kept), Math.max(...kept)];
        // An extreme is exact where no other value equals it or lies beyond, else the mean of a bucket.
        const isLargest = largest > Math.max(...out) && kept.length > 32;
        expect(found.at(-1)?.[0]).toBeLessThanOrEqual(largest * (1 + 1e-12));
        expect(found.at(-1)?.[0]).toBeGreaterThanOrEqual((isLargest ? 1 : 63 / 64) * largest);
        expect(found[0]?.[0]).toBeGreaterThanOrEqual(least * (1 - 1e-12));
      }),
    );
  });

  it('have the largest one exactly where all that are left out are shorter', () => {
    const kept = Array.from({ length: 500 }, (_, i) => 1_000 + 0.01 * i);
    expect(remaining(kept, [500, 600]).at(-1)).toEqual([1_004.99, 1]);
  });
});

describe('spikes', () => {
  it('of few buckets stay apart, however many values they have', () => {
    const pool = new SketchPool();
    const slot = pool.allocate();
    const limits = [500, 2_000, 8_000, 20_000, 60_000];
    const times = [37, 23, 61, 11, 45];
    for (const [i, ms] of limits.entries()) {
      for (let n = 0; n < (times[i] as number); n++) pool.add(slot, ms);
    }
    const n = pool.spikes(slot, means, weights);
    const counts = new Map<number, number>();
    for (let i = 0; i < n; i++) {
      const ms = means[i] as number;
      counts.set(ms, (counts.get(ms) ?? 0) + (weights[i] as number));
    }
    expect([...counts]).toEqual(limits.map((ms, i) => [ms, times[i]]));
  });

  it('of many buckets are centroids', () => {
    const pool = new SketchPool();
    const slot = pool.allocate();
    for (const ms of drawDistribution('lognormal', 10_000, 3)) pool.add(slot, ms);
    const joined = [new Float64Array(stateCentroids), new Float64Array(stateCentroids)] as const;
    const n = pool.spikes(slot, means, weights);
    expect(pool.centroids(slot, ...joined)).toBe(n);
    expect(means.subarray(0, n)).toEqual(joined[0].subarray(0, n));
  });
});
