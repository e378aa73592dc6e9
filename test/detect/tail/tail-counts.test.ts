import { describe, expect, it } from 'vitest';
import { TailCounts } from '../../../src/detect/tail/tail-counts.ts';
import type { TailThreshold } from '../../../src/detect/tail/tail-threshold.ts';
import type { StageSummary } from '../../../src/series/series-window.ts';
import { TDigest } from '../../../src/sketch/t-digest.ts';
import { detectOptions } from '../../scenarios/run-scenario.ts';
import { foundSince } from '../found-run.ts';

const options = detectOptions();
const windowMs = options.window;
const threshold = (baselineMs: number, baselineShare: number): TailThreshold => ({
  ...{ baselineMs, baselineShare, effectMs: 1.3 * baselineMs },
  halfEffectMs: 1.15 * baselineMs,
});
const thresholds = [threshold(100, 0.05), threshold(200, 0.01)];

/** A window of 100 requests: the given counts by duration, the rest of 50 ms. */
function window(slow: Readonly<Record<number, number>> = {}): StageSummary {
  const values = Object.entries(slow).flatMap(([ms, count]) => Array(count).fill(Number(ms)));
  while (values.length < 100) values.push(50);
  return { requests: 100, digest: TDigest.fromValues(values, 1_000) } as unknown as StageSummary;
}

function add({ at }: TailCounts, i: number, summary: StageSummary): void {
  TailCounts.add(at, thresholds.length, i * windowMs, summary);
}

function counts(windows: readonly StageSummary[]): TailCounts {
  const found = new TailCounts(options);
  found.compareWith(thresholds);
  for (const [i, summary] of windows.entries()) add(found, i, summary);
  return found;
}

describe('TailCounts', () => {
  it('counts requests above the quantiles, and their baseline counts, in the last windows', () => {
    const found = counts([window({ 110: 9 }), window({ 110: 3 }), window({ 300: 2 })]);
    expect(found.sums(0, 2)).toMatchObject({ requests: 200, expected: 10 });
    expect(found.sums(0, 2).exceedances).toBeCloseTo(5, 9);
    expect(found.sums(1, 3).exceedances).toBeCloseTo(2, 9);
    const { run, sum, score } = foundSince(found, windowMs);
    expect([run, sum]).toEqual([2, 50]);
    // Of 200 requests, against a baseline of 1,000.
    expect(score).toBe(50 / 1.4);
  });

  it('keeps thirty windows', () => {
    const found = counts(Array.from({ length: 100 }, (_, i) => window({ 110: i % 7 })));
    expect(foundSince(found, 0).run).toBe(30);
    const sum = Array.from({ length: 30 }, (_, i) => (70 + i) % 7).reduce((a, b) => a + b, 0);
    expect(found.sums(0, 30).exceedances).toBeCloseTo(sum, 6);
  });

  it('does not count windows that lie far apart as a run', () => {
    const found = counts([]);
    for (const i of [0, 1, 50, 51, 53]) add(found, i, window());
    expect(foundSince(found, 0).run).toBe(3);
  });

  it('finds the longest run in which a quantile has moved by the least effect', () => {
    const slow = window({ 140: 6 });
    const found = counts([window(), slow, slow, slow]).effect(4, 6);
    expect(found).toEqual({ windows: 3, quantile: 0, times: expect.closeTo(1.2, 9) });
    expect(counts([window(), slow, slow, window()]).effect(4, 6)).toBeUndefined();
    const few = window({ 400: 3 });
    expect(counts([few, few, few]).effect(3, 6)).toMatchObject({ windows: 3, quantile: 1 });
    // Too small: above the quantile, not above its effect.
    const small = window({ 120: 20 });
    expect(counts([small, small]).effect(2, 6)).toBeUndefined();
    expect(counts([small, small]).showsHalf(2)).toBe(true);
  });

  it('reports how many of the last windows show it, and when the excess began', () => {
    const found = counts([window(), window({ 140: 7 }), window(), window({ 140: 8 })]);
    expect(found.lasting(6)).toBe(2);
    expect(found.startOfExcess(0, 4)).toBe(windowMs);
  });
});
