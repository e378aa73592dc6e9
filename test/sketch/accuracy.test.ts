import { TDigest as NpmDigest } from 'tdigest';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { stateCentroids } from '../../src/sketch/sketch-pool.ts';
import { TDigest } from '../../src/sketch/t-digest.ts';
import { weyl32 } from '../base/seeded-random.ts';
import { clickhouseMerge } from './clickhouse-merge.ts';
import { distributionNames, drawDistribution } from './distributions.ts';
import { poolDigest } from './pool-digest.ts';
import { worstError } from './worst-error.ts';

/** The same values in digests of equal size and their own phases, in the order in which they come. */
function partsOf(values: Float64Array, count: number): TDigest[] {
  const size = values.length / count;
  return Array.from({ length: count }, (_, i) =>
    poolDigest(values.subarray(i * size, (i + 1) * size), 1 - ((i * 0.618034) % 1)),
  );
}

describe.each(distributionNames)('%s, p50 to p99.9 where 20 values lie above', (name) => {
  it.each([60, 100, 150, 200])('a state of %i values errs by as little', (count) => {
    for (let seed = 1; seed <= 20; seed++) {
      const values = drawDistribution(name, count, seed);
      const digest = poolDigest(values);
      expect(digest.count).toBe(count);
      const { score } = worstError(values.sort(), (q) => digest.quantile(q));
      expect(score).toBeLessThanOrEqual(1);
    }
  });

  it.each([1_000, 5_000, 20_000, 100_000])(
    'a state of %i values errs by 1 %% of the value or 5 %% of the tail at most',
    (count) => {
      const values = drawDistribution(name, count, 42);
      const digest = poolDigest(values);
      expect(digest.size).toBeLessThanOrEqual(stateCentroids);
      expect(digest.count).toBe(count);
      const { score, stored } = worstError(values.sort(), (q) => digest.quantile(q));
      expect(score).toBeLessThanOrEqual(1);
      expect(stored).toBeLessThanOrEqual(0.006);
    },
  );

  it('1,000 merged states err by less, in 100 centroids and as ClickHouse merges', () => {
    const values = drawDistribution(name, 100_000, 43);
    const parts = partsOf(values, 1_000);
    values.sort();
    const merged = TDigest.merge(parts);
    expect(merged.size).toBeLessThanOrEqual(100);
    expect(merged.count).toBe(values.length);
    expect(worstError(values, (q) => merged.quantile(q)).score).toBeLessThanOrEqual(0.75);
    const server = clickhouseMerge(parts);
    expect(server.count).toBe(values.length);
    expect(worstError(values, (q) => server.quantile(q)).score).toBeLessThanOrEqual(0.75);
  });

  it('20 merged states of 15,000 values err by less: their centroids differ in position', () => {
    const values = drawDistribution(name, 300_000, 45);
    const parts = partsOf(values, 20);
    values.sort();
    for (const digest of [TDigest.merge(parts), clickhouseMerge(parts)]) {
      expect(worstError(values, (q) => digest.quantile(q)).score).toBeLessThanOrEqual(0.75);
    }
  });
});

describe.each(distributionNames)('%s in few states of 10,000 values', (name) => {
  it.each([2, 3, 6, 10])(
    '%i merged as ClickHouse does err by twice the bound at most',
    (states) => {
      const values = drawDistribution(name, states * 10_000, 47);
      const server = clickhouseMerge(partsOf(values, states));
      values.sort();
      expect(server.count).toBe(values.length);
      expect(worstError(values, (q) => server.quantile(q)).score).toBeLessThanOrEqual(2);
    },
  );
});

describe.each([
  'lognormal',
  'lognormal, narrow',
  'bimodal cliff',
  'exponential',
  'uniform',
  'two points',
  'constant',
])('%s', (name) => {
  it.each([100, 1_000])(
    '1,000 states of %i values err by 0.6 %% of the value at most, as ClickHouse merges',
    (each) => {
      const values = drawDistribution(name, 1_000 * each, 46);
      const server = clickhouseMerge(partsOf(values, 1_000));
      values.sort();
      expect(worstError(values, (q) => server.quantile(q)).stored).toBeLessThanOrEqual(0.006);
    },
  );
});

it('1,000 states that follow one another in value err no more, as p99.9 lies where two meet', () => {
  const values = drawDistribution('sorted lognormal', 1_000_000, 1);
  const parts = partsOf(values, 1_000);
  for (const digest of [TDigest.merge(parts), clickhouseMerge(parts)]) {
    expect(digest.count).toBe(values.length);
    expect(worstError(values, (q) => digest.quantile(q)).score).toBeLessThanOrEqual(0.75);
  }
});

describe('beside npm tdigest at its defaults, which keeps many times the centroids', () => {
  // Its compression shuffles with Math.random.
  beforeEach(() => {
    vi.spyOn(Math, 'random').mockImplementation(weyl32(5));
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it('the worst error over all distributions is smaller', () => {
    let [ours, theirs] = [0, 0];
    for (const name of distributionNames) {
      const values = drawDistribution(name, 20_000, 44);
      const npm = new NpmDigest();
      for (const value of values) npm.push(value);
      npm.compress();
      const digest = poolDigest(values);
      expect(digest.size).toBeLessThanOrEqual(stateCentroids);
      values.sort();
      ours = Math.max(ours, worstError(values, (q) => digest.quantile(q)).score);
      theirs = Math.max(theirs, worstError(values, (q) => npm.percentile(q) ?? Number.NaN).score);
    }
    expect(ours).toBeLessThanOrEqual(1);
    expect(ours).toBeLessThan(theirs);
  });
});

it('the measure itself detects an error: an estimate 2 % and 10 % of the tail off fails', () => {
  const sorted = Float64Array.from({ length: 10_000 }, (_, i) => i + 1);
  expect(worstError(sorted, (q) => q * 10_000).score).toBeLessThanOrEqual(0.01);
  expect(worstError(sorted, (q) => q * 10_000 * 1.02).score).toBeGreaterThan(1);
  expect(worstError(sorted, () => Number.NaN).score).toBeNaN();
});
