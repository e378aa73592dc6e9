import { describe, expect, it } from 'vitest';
import { BaselinePeriods } from '../../src/baseline/baseline-periods.ts';
import { StageBaseline } from '../../src/baseline/stage-baseline.ts';
import type { StageSummary } from '../../src/series/series-window.ts';
import { TDigest } from '../../src/sketch/t-digest.ts';
import { StateReader } from '../../src/snapshot/archive-reader.ts';
import { StateWriter } from '../../src/snapshot/archive-writer.ts';

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

  describe('while nothing is learnt', () => {
    const hourMs = 3_600_000;
    const minuteMs = 60_000;
    const hourlyPeriods = new BaselinePeriods(hourMs, minuteMs);
    /** 80 ms at midnight, 160 at noon. */
    const baselineAt = (ms: number) =>
      80 * 2 ** ((1 - Math.cos((2 * Math.PI * ms) / (24 * hourMs))) / 2);
    /** Of a day and two hours. */
    const hourly = () => {
      const baseline = new StageBaseline(hourlyPeriods);
      for (let ms = 0; ms < 26 * hourMs; ms += minuteMs)
        baseline.learn(ms, summary(baselineAt(ms)));
      return baseline;
    };
    const medianOf = (baseline: StageBaseline) =>
      baseline.reference()?.digest.quantile(0.5) ?? Number.NaN;
    const isNear = (ms: number, other: number, part: number) =>
      expect(Math.abs(ms / other - 1)).toBeLessThan(part);

    it('follows the day, and goes on from there', () => {
      const baseline = hourly();
      expect(baseline.reference()?.course).toBeUndefined();
      isNear(medianOf(baseline), baselineAt(25.5 * hourMs), 0.01);
      for (const hour of [30, 36.25, 44]) {
        baseline.advance(hour * hourMs);
        isNear(medianOf(baseline), baselineAt(hour * hourMs), 0.02);
        const { windows, toMs } = baseline.reference() ?? {};
        expect({ windows, toMs }).toEqual({ windows: 72, toMs: 26 * hourMs });
      }
      // What it held is what it had followed to, and one window does not change that.
      baseline.advance(36 * hourMs);
      const before = medianOf(baseline);
      baseline.hold(36 * hourMs);
      baseline.learn(36 * hourMs, summary(baselineAt(36 * hourMs)));
      expect(baseline.reference()?.course).toBeUndefined();
      isNear(medianOf(baseline), before, 0.01);
      expect(baseline.windows).toBe(73);
    });

    it('goes on where another one was saved', () => {
      const one = hourly();
      one.advance(30 * hourMs);
      const writer = new StateWriter();
      one.serialize(writer);
      const other = new StageBaseline(hourlyPeriods);
      other.serialize(new StateReader(writer.drain()));
      for (const baseline of [one, other]) {
        baseline.advance(36 * hourMs);
        isNear(medianOf(baseline), baselineAt(36 * hourMs), 0.02);
      }
      expect(other.reference()?.digest.means).toEqual(one.reference()?.digest.means);
      for (const baseline of [one, other]) {
        baseline.hold(36 * hourMs);
        baseline.learn(36 * hourMs, summary(baselineAt(36 * hourMs)));
      }
      expect(other.reference()).toEqual(one.reference());
    });

    it('stays as it is where no day is known', () => {
      const baseline = new StageBaseline(periods);
      learn(baseline, 0, 15);
      const before = baseline.reference();
      // Of the next window the reference would not be renewed yet: to follow does not do it either.
      learn(baseline, 16, 16);
      expect(baseline.reference()).toBe(before);
      baseline.advance(200 * windowMs);
      expect(baseline.reference()).toBe(before);
    });
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
