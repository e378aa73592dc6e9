import { describe, expect, it } from 'vitest';
import { BaselinePeriods } from '../../src/baseline/baseline-periods.ts';
import type { StageSummary } from '../../src/baseline/series-window.ts';
import { StageBaseline } from '../../src/baseline/stage-baseline.ts';
import { TDigest } from '../../src/sketch/t-digest.ts';

const windowMs = 10_000;
const periods = new BaselinePeriods(160_000, windowMs);

function summary(ms: number): StageSummary {
  const bands = { bands: [ms], amounts: [1] };
  const counts = { requests: 1, errors: 0, timeouts: 0, cancelled: 0 };
  const digest = TDigest.fromValues([ms]);
  return {
    stage: 'total',
    ...counts,
    sumMs: ms,
    minMs: ms,
    maxMs: ms,
    digest,
    bands,
    bandsMs: bands,
  };
}

function learn(baseline: StageBaseline, from: number, to: number): void {
  for (let i = from; i <= to; i++) baseline.learn(i * windowMs, summary(i));
}

describe('StageBaseline', () => {
  it('has no reference before the first window', () => {
    expect(new StageBaseline(periods).reference()).toBeUndefined();
  });

  it('merges digests and bands of the windows it has', () => {
    const baseline = new StageBaseline(periods);
    learn(baseline, 0, 5);
    const reference = baseline.reference();
    expect(reference?.digest.count).toBe(6);
    const bands = { bands: [0, 1, 2, 3, 4, 5], amounts: [1, 1, 1, 1, 1, 1] };
    expect(baseline.bands()).toEqual({ bands, bandsMs: bands });
    expect(reference).toMatchObject({ windows: 6, fromMs: 0, toMs: 60_000 });
  });

  it('keeps the same reference until six windows later', () => {
    const baseline = new StageBaseline(periods);
    learn(baseline, 0, 6);
    const reference = baseline.reference();
    learn(baseline, 7, 11);
    expect(baseline.reference()).toBe(reference);
    learn(baseline, 12, 12);
    expect(baseline.reference()?.windows).toBe(13);
  });

  it('holds what it has, however old, until a whole baseline came after', () => {
    const baseline = new StageBaseline(periods);
    learn(baseline, 0, 9);
    baseline.hold(100 * windowMs);
    learn(baseline, 100, 115);
    expect(baseline.windows).toBe(26);
    expect(baseline.reference()?.digest.count).toBe(26);
    learn(baseline, 116, 117);
    expect(baseline.windows).toBe(18);
    expect(baseline.bands().bands.bands[0]).toBe(100);
  });

  it('follows the day while nothing is learnt, and goes on from there', () => {
    const hourMs = 3_600_000;
    const minuteMs = 60_000;
    const hourly = new StageBaseline(new BaselinePeriods(hourMs, minuteMs));
    /** 80 ms at midnight, 160 at noon. */
    const usualAt = (ms: number) =>
      80 * 2 ** ((1 - Math.cos((2 * Math.PI * ms) / (24 * hourMs))) / 2);
    const learnHours = (from: number, to: number) => {
      for (let ms = from * hourMs; ms < to * hourMs; ms += minuteMs) {
        hourly.learn(ms, summary(usualAt(ms)));
      }
    };
    const medianOf = () => hourly.reference()?.digest.quantile(0.5) ?? Number.NaN;
    learnHours(0, 26);
    expect(hourly.reference()?.course).toBeUndefined();
    expect(Math.abs(medianOf() / usualAt(25.5 * hourMs) - 1)).toBeLessThan(0.01);
    for (const hour of [30, 36.25, 44]) {
      hourly.follow(hour * hourMs);
      expect(Math.abs(medianOf() / usualAt(hour * hourMs) - 1)).toBeLessThan(0.02);
      const { windows, toMs } = hourly.reference() ?? {};
      expect({ windows, toMs }).toEqual({ windows: 72, toMs: 26 * hourMs });
    }
    // What it held is what it had followed to, and one window does not change that.
    hourly.follow(36 * hourMs);
    const before = medianOf();
    hourly.hold(36 * hourMs);
    hourly.learn(36 * hourMs, summary(usualAt(36 * hourMs)));
    expect(hourly.reference()?.course).toBeUndefined();
    expect(Math.abs(medianOf() / before - 1)).toBeLessThan(0.01);
    expect(hourly.windows).toBe(73);
  });

  it('stays as it is while nothing is learnt where no day is known', () => {
    const baseline = new StageBaseline(periods);
    learn(baseline, 0, 15);
    const before = baseline.reference();
    baseline.follow(200 * windowMs);
    expect(baseline.reference()).toEqual(before);
  });

  it('drops blocks of two windows once they lie a baseline back', () => {
    const baseline = new StageBaseline(periods);
    learn(baseline, 0, 18);
    // Window 18 keeps what ends after window 2: blocks 2-3 to 18-19.
    expect(baseline.windows).toBe(17);
    expect(baseline.bands().bands.bands[0]).toBe(2);
  });

  it('holds the same reference when it learns only the last baseline of windows', () => {
    const long = new StageBaseline(periods);
    const short = new StageBaseline(periods);
    learn(long, 0, 60);
    learn(short, 40, 60);
    expect(short.reference()).toEqual(long.reference());
    expect(short.bands()).toEqual(long.bands());
  });
});
