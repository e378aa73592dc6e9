import { describe, expect, it } from 'vitest';
import { hourMs, minuteMs } from '../../src/base/time.ts';
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

  it('merges digests and bands of its windows', () => {
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

  it('keeps its windows, however old, until a whole baseline follows', () => {
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
    const hourlyPeriods = new BaselinePeriods(hourMs, minuteMs);
    /** 80 ms at midnight, 160 at noon. */
    const baselineAt = (ms: number) =>
      80 * 2 ** ((1 - Math.cos((2 * Math.PI * ms) / (24 * hourMs))) / 2);
    /** A day and two hours. */
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

    it('follows the day, and continues from there', () => {
      const baseline = hourly();
      expect(baseline.reference()?.diurnal).toBeUndefined();
      isNear(medianOf(baseline), baselineAt(25.5 * hourMs), 0.01);
      for (const hour of [30, 36.25, 44]) {
        baseline.advance(hour * hourMs);
        isNear(medianOf(baseline), baselineAt(hour * hourMs), 0.02);
        const { windows, toMs } = baseline.reference() ?? {};
        expect({ windows, toMs }).toEqual({ windows: 72, toMs: 26 * hourMs });
      }
      // It holds the reference that it had followed to, and one window does not change that.
      baseline.advance(36 * hourMs);
      const before = medianOf(baseline);
      baseline.hold(36 * hourMs);
      baseline.learn(36 * hourMs, summary(baselineAt(36 * hourMs)));
      expect(baseline.reference()?.diurnal).toBeUndefined();
      isNear(medianOf(baseline), before, 0.01);
      expect(baseline.windows).toBe(73);
    });

    it('continues where a saved one was', () => {
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

    it('is unchanged where no day is known', () => {
      const baseline = new StageBaseline(periods);
      learn(baseline, 0, 15);
      const before = baseline.reference();
      // The next window does not renew the reference yet, and following does not either.
      learn(baseline, 16, 16);
      expect(baseline.reference()).toBe(before);
      baseline.advance(200 * windowMs);
      expect(baseline.reference()).toBe(before);
    });
  });

  it('drops blocks of two windows once they are a baseline old', () => {
    const baseline = new StageBaseline(periods);
    learn(baseline, 0, 18);
    // Window 18 keeps windows that end after window 2: blocks 2-3 to 18-19.
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
