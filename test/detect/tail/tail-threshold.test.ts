import { describe, expect, it } from 'vitest';
import { configSchema } from '../../../src/config/schema.ts';
import {
  effectBounds,
  effectOptionsOf,
  tailThreshold,
} from '../../../src/detect/tail/tail-threshold.ts';
import { TDigest } from '../../../src/sketch/t-digest.ts';

const options = { min_effect_ratio: 1.4, min_effect_ms: 10, min_effect_of_total: 0.1 };

describe('tailThreshold', () => {
  it('reads the quantile and the part above it from the same digest', () => {
    const digest = TDigest.fromValues(Array.from({ length: 1000 }, (_, i) => i + 1));
    const { baselineMs, baselineShare } = tailThreshold(digest, undefined, 0.95, options);
    expect(Math.abs(baselineMs - 950)).toBeLessThan(2);
    expect(baselineShare).toBe(1 - digest.cdf(baselineMs));
  });

  it('uses a quarter of the tail as baseline where ties leave none above', () => {
    const digest = TDigest.fromValues(new Array(1000).fill(30));
    expect(tailThreshold(digest, undefined, 0.99, options).baselineShare).toBeCloseTo(0.0025, 12);
  });

  describe('of a stage of 20 ms', () => {
    const stage = TDigest.fromValues(new Array(1000).fill(20));
    const effectMs = (total: TDigest | undefined, q: number) =>
      tailThreshold(stage, total, q, options).effectMs;

    it("requires a part of the request's duration at that quantile", () => {
      const total = TDigest.fromValues(Array.from({ length: 1000 }, (_, i) => i + 1));
      expect(effectMs(total, 0.95)).toBe(20 + 0.1 * total.quantile(0.95));
      expect(effectMs(total, 0.95)).toBeGreaterThan(20 + 90);
    });

    it('requires what is configured where that is more, or the duration is unknown', () => {
      expect(effectMs(TDigest.fromValues([20, 30, 40]), 0.99)).toBe(30);
      expect(effectMs(undefined, 0.99)).toBe(30);
    });
  });
});

describe('effectBounds', () => {
  it('need both the ratio and the milliseconds, and half of each to continue', () => {
    expect(effectBounds(10, options)).toEqual({ effectMs: 20, halfEffectMs: 15 });
    expect(effectBounds(100, options)).toEqual({ effectMs: 140, halfEffectMs: 120 });
  });
});

describe('effectOptionsOf', () => {
  const all = configSchema.parse({}).detect;

  it('are the configured ones of a part, and the ratio alone of a time per token', () => {
    expect(effectOptionsOf('decode', all)).toBe(all);
    // Users wait for it, whatever part of the whole it is.
    expect(effectOptionsOf('first_token', all)).toEqual({ ...all, min_effect_of_total: 0 });
    expect(effectOptionsOf('time_per_output_token', all)).toEqual({
      ...{ ...all, min_effect_ms: 0, min_effect_of_total: 0 },
    });
  });
});
