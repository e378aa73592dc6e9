import { describe, expect, it } from 'vitest';
import { RateBaseline } from '../../src/baseline/rate-baseline.ts';

const windowMs = 10_000;
const baselineMs = 600_000;

describe('RateBaseline', () => {
  it('has nothing to say before its first window, and never a rate of 0', () => {
    const baseline = new RateBaseline(baselineMs, windowMs);
    expect(baseline.reference()).toBeUndefined();
    baseline.learn(0, 1500, 0);
    expect(baseline.reference()).toEqual({
      rate: 0.5 / 2000,
      requests: 1500,
      windows: 1,
      fromMs: 0,
      toMs: windowMs,
    });
  });

  it('forgets what is older than the baseline, whole blocks at a time', () => {
    const baseline = new RateBaseline(baselineMs, windowMs);
    for (let at = 0; at < 200; at++) baseline.learn(at * windowMs, 100, at < 100 ? 50 : 1);
    const { windows = 0, requests = 0, rate } = baseline.reference() ?? {};
    expect(windows).toBeLessThanOrEqual(9 * 8);
    // One failure a window, and what is known before any: half a failure in five hundred requests.
    expect(requests).toBe(100 * windows);
    expect(rate).toBe((windows + 0.5) / (requests + 500));
  });

  it('gives the same after a restart over as much history', () => {
    const whole = new RateBaseline(baselineMs, windowMs);
    const late = new RateBaseline(baselineMs, windowMs);
    for (let at = 0; at < 300; at++) {
      whole.learn(at * windowMs, 90 + (at % 7), at % 3);
      if (at >= 180) late.learn(at * windowMs, 90 + (at % 7), at % 3);
    }
    expect(late.reference()).toEqual(whole.reference());
  });
});
