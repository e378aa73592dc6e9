import { describe, expect, it } from 'vitest';
import { DurationHistogram } from '../../src/baseline/duration-histogram.ts';
import { Random } from '../../src/generate/random.ts';
import { TDigest } from '../../src/sketch/t-digest.ts';

describe('DurationHistogram', () => {
  it('answers quantiles of all that went in to half a percent', () => {
    const random = new Random('durations');
    const all: number[] = [];
    const [one, other] = [new DurationHistogram(), new DurationHistogram()];
    for (let window = 0; window < 200; window++) {
      const values = Array.from({ length: 100 }, () => random.lognormal(40, 0.8));
      all.push(...values);
      (window % 2 === 0 ? one : other).add(TDigest.fromValues(values));
    }
    const digest = DurationHistogram.of([one, other]).toDigest();
    all.sort((a, b) => a - b);
    expect(digest.count).toBe(20_000);
    for (const q of [0.5, 0.9, 0.95, 0.99]) {
      const exact = all[Math.ceil(q * all.length) - 1] as number;
      expect(Math.abs(digest.quantile(q) / exact - 1)).toBeLessThan(0.005);
    }
  });

  it('holds what is shorter than a microsecond, and what lasts for days', () => {
    const histogram = new DurationHistogram();
    histogram.add(TDigest.fromValues([0, 1e-9, 1e9]));
    const digest = histogram.toDigest();
    expect(digest.count).toBe(3);
    expect(digest.quantile(1)).toBe(1e9);
    expect(digest.quantile(0)).toBeLessThan(1e-8);
  });
});
