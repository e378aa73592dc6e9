import { describe, expect, it } from 'vitest';
import { PeakPool } from '../../../src/detect/score/peak-pool.ts';
import {
  type Growth,
  PeaksOverThreshold,
  peakScore,
} from '../../../src/detect/score/peaks-over-threshold.ts';
import { Random } from '../../../src/generate/random.ts';

const windowMs = 10_000;
const windowsPerWeek = (7 * 86_400_000) / windowMs;

/** Scores with a constant level that have grown for longer than any burst. */
const calmly: Growth = {
  ...{ nonStationarity: 0, levelVariation: 0, predictability: 0 },
  ...{ ageMs: 10 * 60_000, ofBaseline: 0 },
};

/** Peaks over exponential scores of the given mean, each followed by a clear minute. */
function learnt(windows: number, mean: number, pool = new PeakPool()): PeaksOverThreshold {
  const random = new Random(`peaks ${mean}`);
  const peaks = new PeaksOverThreshold(windowMs, pool);
  for (let i = 0; i < windows; i++) peaks.learn(random.exponential(mean));
  return peaks;
}

describe('PeaksOverThreshold', () => {
  it('requires no less than theory for a series that is calmer', () => {
    const perWeek = 1e-4;
    const byTheory = peakScore + Math.log(100.8 / perWeek);
    const level = learnt(windowsPerWeek, 0.2).level(perWeek);
    expect(level).toBeGreaterThanOrEqual(byTheory);
    expect(level).toBeLessThan(byTheory * 1.1);
  });

  it('is exceeded less often than stated where scores have a heavier tail', () => {
    const level = learnt(windowsPerWeek, 2.5).level(1);
    const random = new Random('afterwards');
    let above = 0;
    const weeks = 20;
    for (let i = 0; i < weeks * windowsPerWeek; i++) if (random.exponential(2.5) > level) above++;
    expect(above / weeks).toBeLessThan(1.5);
    expect(level).toBeLessThan(2.5 * 2.8 * Math.log(windowsPerWeek));
  });

  it("starts a new series with the peaks of others, and with all of its predecessor's", () => {
    const pool = new PeakPool();
    const before = learnt(windowsPerWeek, 4, pool);
    // Peaks of others count once they are shared.
    expect(learnt(0, 4, pool).level(1e-4)).toBe(learnt(0, 4).level(1e-4));
    pool.publishShared();
    expect(learnt(0, 4, pool).level(1e-4)).toBeGreaterThan(learnt(0, 4).level(1e-4) * 1.5);
    const heir = new PeaksOverThreshold(windowMs, pool);
    heir.inherit(before);
    expect(heir.level(1e-4)).toBe(before.level(1e-4));
  });

  it('joins high scores to one peak until a clear minute', () => {
    const pool = new PeakPool();
    const peaks = new PeaksOverThreshold(windowMs, pool);
    for (const score of [7, 0, 0, 8, 0, 0, 0, 0, 0]) peaks.learn(score);
    pool.publishShared();
    expect(pool.peaks).toBe(0);
    peaks.learn(0);
    pool.publishShared();
    expect(pool.peaks).toBe(1);
    expect(pool.excess).toBeCloseTo(8 - peakScore, 5);
  });

  it('counts one peak as four mean ones at most', () => {
    const pool = new PeakPool();
    const peaks = new PeaksOverThreshold(windowMs, pool);
    for (const score of [500, 0, 0, 0, 0, 0, 0]) peaks.learn(score);
    pool.publishShared();
    expect(pool.excess).toBeCloseTo(4 * 1.1, 5);
  });

  it('requires three times the excess of the highest peak, most in the first days', () => {
    const levelAfter = (weeks: number, ...highest: readonly number[]) => {
      const peaks = learnt(weeks * windowsPerWeek, 1);
      for (const score of highest) {
        for (const next of [score, 0, 0, 0, 0, 0, 0]) peaks.learn(next);
      }
      return peaks.level(1);
    };
    const thrice = peakScore + 3 * (40 - peakScore);
    expect(levelAfter(2 / 7, 40, 30, 25) / thrice).toBeCloseTo(1 + 0.3 / 2, 1);
    expect(levelAfter(1, 25, 30, 40) / thrice).toBeCloseTo(1 + 0.3 / 7, 1);
    // Two outliers may have been faults.
    expect(levelAfter(1, 40, 30) / thrice).toBeLessThan(0.5);
  });

  it('ignores rises that last longer than a burst', () => {
    const levelAfter = (windows: number) => {
      const peaks = learnt(windowsPerWeek, 1);
      for (let times = 0; times < 3; times++) {
        for (let i = 1; i <= windows; i++) peaks.learn(10 + (30 * i) / windows);
        for (let i = 0; i < 6; i++) peaks.learn(0);
      }
      return peaks.level(1);
    };
    expect(levelAfter(12)).toBeGreaterThan(70);
    expect(levelAfter(13)).toBeLessThan(40);
  });

  it('requires up to 1.6 times as much of scores whose own level moves', () => {
    // So rarely that the highest scores do not count.
    const perWeek = 1e-12;
    const times = (mean: number, weeks = 1) => {
      const peaks = learnt(weeks * windowsPerWeek, mean);
      const nonStationary = peaks.level(perWeek, { ...calmly, nonStationarity: 1 });
      return (nonStationary - peakScore) / (peaks.level(perWeek, calmly) - peakScore);
    };
    expect(times(1)).toBeCloseTo(1.6, 9);
    // Also of a tail heavier than chance by less than two standard errors.
    expect(times(1.1, 1 / 14)).toBeCloseTo(1.6, 9);
    // A significantly heavier tail raises the threshold already.
    expect(times(1.6)).toBeLessThan(1.45);
    expect(times(3)).toBe(1);
  });

  it('requires more of slow growth where the level moves, the longer it lasts', () => {
    const peaks = learnt(windowsPerWeek, 1);
    const times = (levelVariation: number, minutes: number, predictability = 0) => {
      const ageMs = minutes * 60_000;
      const growth = { ...calmly, levelVariation, predictability, ageMs };
      const level = peaks.level(1e-4, growth);
      return Number((level / peaks.level(1e-4, { ...calmly, ageMs })).toFixed(9));
    };
    expect([0, 2, 5, 15, 24, 30, 300].map((minutes) => times(1, minutes))).toEqual([
      1, 1.033333333, 1.083333333, 1.25, 1.85, 2.25, 20.25,
    ]);
    expect(times(0.5, 30)).toBe(1.625);
    expect(times(0, 300)).toBe(1);
    // Movement so slow that it is predicted lasts longer: it counts from half the time on.
    expect([0.15, 0.25, 0.4, 0.9].map((part) => times(1, 12, part))).toEqual([1.2, 1.3, 1.5, 1.5]);
    expect(times(1, 7.5, 1)).toBe(1.125);
  });

  it('requires more of growth over half of a baseline, for any series', () => {
    const peaks = learnt(windowsPerWeek, 1);
    const times = (ofBaseline: number, levelVariation = 0) => {
      const ageMs = 30 * 60_000;
      const level = peaks.level(1e-4, { ...calmly, levelVariation, ageMs, ofBaseline });
      return Number((level / peaks.level(1e-4, { ...calmly, ageMs })).toFixed(9));
    };
    expect([0.1, 0.5, 0.75, 1, 2].map((part) => times(part))).toEqual([1, 1, 1.5, 2, 4]);
    // The requirement is not added to that of a moving level.
    expect([0.5, 1, 2].map((part) => times(part, 1))).toEqual([2.25, 2.25, 4]);
  });

  it('requires more of what may be one of some bursts of which few are known', () => {
    const levelOf = (minutes: number, burst: number, days = 1) => {
      const peaks = learnt(days * (windowsPerWeek / 7), 1);
      for (const score of [burst, 0, 0, 0, 0, 0, 0]) peaks.learn(score);
      return peaks.level(1e-2, { ...calmly, ageMs: minutes * 60_000 });
    };
    // A far outlier doubles the requirement, for evidence no older than a burst or two.
    const [young, older, old] = [levelOf(3, 60), levelOf(4.5, 60), levelOf(6, 60)];
    expect(young / old).toBeGreaterThan(1.5);
    expect(older).toBeCloseTo((young + old) / 2, 9);
    expect(levelOf(0.5, 60)).toBe(young);
    // After a week it is a fraction of that, and zero without an outlier.
    expect(levelOf(3, 60, 7) / levelOf(6, 60, 7)).toBeLessThan(1.2);
    expect(levelOf(3, 5)).toBe(levelOf(6, 5));
  });

  it('counts a burst by its duration, however long the windows are', () => {
    const peaks = new PeaksOverThreshold(6 * windowMs, new PeakPool());
    for (const score of [60, 0, 0, 0, 0, 0, 0]) peaks.learn(score);
    for (let i = 0; i < 3; i++) for (const score of [50, 0, 0, 0, 0, 0, 0]) peaks.learn(score);
    const levelAt = (minutes: number) => peaks.level(1e-2, { ...calmly, ageMs: minutes * 60_000 });
    expect(levelAt(6)).toBe(levelAt(18));
    expect(levelAt(18)).toBeGreaterThan(levelAt(35));
    expect(levelAt(36)).toBeGreaterThan(levelAt(60));
    expect(levelAt(72)).toBe(levelAt(120));
  });

  it('requires twice the excess of the highest burst, not three times, once it outlasts bursts', () => {
    const peaks = learnt(52 * windowsPerWeek, 1);
    for (let i = 0; i < 3; i++) for (const score of [60, 0, 0, 0, 0, 0, 0]) peaks.learn(score);
    const times = (minutes: number) => {
      const level = peaks.level(1e-2, { ...calmly, ageMs: minutes * 60_000 });
      return (level - peakScore) / (60 - peakScore);
    };
    for (const [minutes, expected] of [
      [0, 3],
      [6, 3],
      [9, 2.5],
      [12, 2],
      [60, 2],
    ] as const) {
      // The memory of two weeks of days makes it a little more.
      expect(times(minutes) / expected).toBeGreaterThan(0.999);
      expect(times(minutes) / expected).toBeLessThan(1.12);
    }
  });

  it('counts emitted bursts that ended by themselves, from the first one on, up to their score when emitted', () => {
    const timesAfter = (...scores: number[]) => {
      const peaks = learnt(52 * windowsPerWeek, 1);
      const before = peaks.level(1e-2);
      for (const score of scores) peaks.observePeak(score);
      peaks.endEmitted(1e-2);
      return (peaks.level(1e-2) - peakScore) / (before - peakScore);
    };
    expect(timesAfter(10, 20, 300)).toBeGreaterThan(3);
    expect(timesAfter(10, 20, 300)).toBeLessThan(3.2);
    expect(timesAfter(10, 20, 300)).toBe(timesAfter(10, 20, 1_000));
    // Longer rises are no bursts, and those below the mean peak add nothing.
    expect(timesAfter(...Array.from({ length: 14 }, (_, i) => 10 + i), 300)).toBe(1);
    expect(timesAfter(peakScore + 1)).toBe(1);
    expect(timesAfter()).toBe(1);
  });

  it('leaves out a peak that led to an anomaly', () => {
    const pool = new PeakPool();
    const peaks = new PeaksOverThreshold(windowMs, pool);
    peaks.learn(50);
    peaks.forgetPeak();
    for (let i = 0; i < 10; i++) peaks.learn(0);
    pool.publishShared();
    expect(pool.peaks).toBe(0);
  });
});
