import { describe, expect, it } from 'vitest';
import { configSchema } from '../../../src/config/schema.ts';
import {
  effectBounds,
  effectOptions,
  tailThreshold,
} from '../../../src/detect/tail/tail-threshold.ts';
import { TDigest } from '../../../src/sketch/t-digest.ts';

const options = { min_effect_ratio: 1.4, min_effect_ms: 10 };

describe('tailThreshold', () => {
  it('reads the quantile and the part above it from the same digest', () => {
    const digest = TDigest.fromValues(Array.from({ length: 1000 }, (_, i) => i + 1));
    const { baselineMs, baselineShare } = tailThreshold(digest, 0.95, options);
    expect(Math.abs(baselineMs - 950)).toBeLessThan(2);
    expect(baselineShare).toBe(1 - digest.cdf(baselineMs));
  });

  it('uses a quarter of the tail as baseline where ties leave none above', () => {
    const digest = TDigest.fromValues(new Array(1000).fill(30));
    expect(tailThreshold(digest, 0.99, options).baselineShare).toBeCloseTo(0.0025, 12);
  });
});

describe('effectOptions', () => {
  const config = configSchema.parse({ detect: { min_effect_ms: 5, min_effect_of_total: 0.1 } });

  it("require of a stage a part of the request's duration at that quantile", () => {
    const total = TDigest.fromValues(Array.from({ length: 1000 }, (_, i) => i + 1));
    const least = 0.1 * total.quantile(0.95);
    const { min_effect_ms } = effectOptions(0.95, config.detect, total);
    expect(min_effect_ms).toBe(least);
    expect(least).toBeGreaterThan(90);
  });

  it('are as configured where that is less, or unknown', () => {
    const short = TDigest.fromValues([20, 30, 40]);
    expect(effectOptions(0.99, config.detect, short).min_effect_ms).toBe(5);
    expect(effectOptions(0.99, config.detect, undefined)).toEqual({
      ...{ min_effect_ms: 5, min_effect_ratio: config.detect.min_effect_ratio },
    });
  });
});

describe('effectBounds', () => {
  it('need both the ratio and the milliseconds, and half of each to continue', () => {
    expect(effectBounds(10, options)).toEqual({ effectMs: 20, halfEffectMs: 15 });
    expect(effectBounds(100, options)).toEqual({ effectMs: 140, halfEffectMs: 120 });
  });
});
