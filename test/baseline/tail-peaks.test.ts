import { describe, expect, it } from 'vitest';
import { type PeakPool, peakScore, TailPeaks } from '../../src/baseline/tail-peaks.ts';
import { Random } from '../../src/generate/random.ts';

const windowMs = 10_000;
const windowsPerWeek = (7 * 86_400_000) / windowMs;
const newPool = (): PeakPool => ({ peaks: 0, excess: 0 });

/** Peaks of a horizon of one window that has learnt from exponential scores of the given mean. */
function taught(windows: number, mean: number, pool = newPool()): TailPeaks {
  const random = new Random(`peaks ${mean}`);
  const peaks = new TailPeaks(1, windowMs, pool);
  for (let i = 0; i < windows; i++) peaks.learn(random.exponential(mean));
  return peaks;
}

describe('TailPeaks', () => {
  it('comes to the level of theory where the probabilities are right', () => {
    const perWeek = 1e-4;
    const byTheory = Math.log(windowsPerWeek / perWeek);
    const found = taught(2 * windowsPerWeek, 1).level(perWeek, 0);
    expect(found).toBeGreaterThan(byTheory * 0.97);
    expect(found).toBeLessThan(byTheory * 1.12);
  });

  it('is exceeded as seldom as it says where they are not', () => {
    const peaks = taught(windowsPerWeek, 2.5);
    const level = peaks.level(1, 0);
    const random = new Random('afterwards');
    let above = 0;
    const weeks = 20;
    for (let i = 0; i < weeks * windowsPerWeek; i++) if (random.exponential(2.5) > level) above++;
    expect(above / weeks).toBeLessThan(1.5);
    expect(above / weeks).toBeGreaterThan(0.2);
  });

  it('asks for more while it knows nothing', () => {
    expect(taught(0, 1).level(1e-4, 0)).toBeGreaterThan(
      taught(windowsPerWeek, 1).level(1e-4, 0) * 1.2,
    );
  });

  it('knows more of a new series once others were seen', () => {
    const pool = newPool();
    taught(windowsPerWeek, 4, pool);
    expect(taught(0, 4, pool).level(1e-4, 0)).toBeGreaterThan(taught(0, 4).level(1e-4, 0) * 1.5);
  });

  it('joins high scores to one peak until a horizon was calm', () => {
    const pool = newPool();
    const three = new TailPeaks(3, windowMs, pool);
    for (const score of [9, 0, 0, 12, 0, 0]) three.learn(score);
    expect(pool.peaks).toBe(0);
    three.learn(0);
    expect(pool).toEqual({ peaks: 1, excess: 12 - peakScore });
  });

  it('does not count a peak that an anomaly grew out of', () => {
    const pool = newPool();
    const peaks = new TailPeaks(1, windowMs, pool);
    peaks.learn(50);
    peaks.forgetPeak();
    for (let i = 0; i < 5; i++) peaks.learn(0);
    expect(pool.peaks).toBe(0);
  });

  it('asks for more at a time of day at which as much came before, and forgets by days', () => {
    const peaks = taught(windowsPerWeek, 1);
    const usual = peaks.level(1e-4, 0);
    const hourMs = 3_600_000;
    const day = (score: number, from: number) => {
      for (let ms = 0; ms < 24 * hourMs; ms += windowMs) {
        const isSix = ms >= 6 * hourMs && ms < 6 * hourMs + 600_000;
        peaks.remember(from + ms, isSix ? score : 0);
      }
    };
    day(80, 0);
    const next = 24 * hourMs;
    expect(peaks.level(1e-4, next + 6 * hourMs)).toBe(120);
    expect(peaks.level(1e-4, next + 5.6 * hourMs)).toBe(120);
    expect(peaks.level(1e-4, next + 5.4 * hourMs)).toBe(usual);
    expect(peaks.level(1e-4, next + 7.1 * hourMs)).toBe(usual);
    day(0, next);
    expect(peaks.level(1e-4, 2 * next + 6 * hourMs)).toBe(60);
    day(0, 2 * next);
    expect(peaks.level(1e-4, 3 * next + 6 * hourMs)).toBe(Math.max(usual, 30));
  });

  it('does not take the day itself for one before', () => {
    const peaks = taught(windowsPerWeek, 1);
    const usual = peaks.level(1e-4, 0);
    for (let ms = 0; ms < 600_000; ms += windowMs) peaks.remember(ms, 90);
    expect(peaks.level(1e-4, 600_000)).toBe(usual);
  });
});
