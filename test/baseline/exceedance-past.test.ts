import { describe, expect, it } from 'vitest';
import { ExceedancePast } from '../../src/baseline/exceedance-past.ts';
import { TailPeaks } from '../../src/baseline/tail-peaks.ts';
import { SeededRandom } from '../scenarios/seeded-random.ts';

const newPast = (windows = 1) =>
  new ExceedancePast(windows, new TailPeaks(windows, 10_000, { peaks: 0, excess: 0 }));

/** A past of normal residuals of the given variance. */
function pastOf(windows: number, dispersion: number): ExceedancePast {
  const random = new SeededRandom(8);
  const past = newPast();
  for (let i = 0; i < windows; i++) past.learn(1_000, dispersion * random.normal() ** 2, 0);
  return past;
}

describe('ExceedancePast', () => {
  it('is cautious before it knows anything', () => {
    // The prior of 4, raised by a standard error of four observations.
    expect(newPast().dispersion(100)).toBeCloseTo(4 * (1 + Math.sqrt(0.5)), 12);
    expect(newPast().rate).toBe(1);
  });

  it('is never below a dispersion of 1, however calm the past', () => {
    expect(pastOf(720, 0.01).dispersion(1_000)).toBe(1);
  });

  it.each([1, 5, 20])('finds a dispersion of %d to within its margin', (dispersion) => {
    const found = pastOf(720, dispersion).dispersion(1_000);
    expect(found).toBeGreaterThan(dispersion * 0.9);
    expect(found).toBeLessThan(dispersion * 1.35);
  });

  it('is not moved by lone outliers', () => {
    const past = pastOf(710, 2);
    const before = past.dispersion(1_000);
    for (let i = 0; i < 7; i++) past.learn(1_000, 1e5, 0);
    expect(past.dispersion(1_000)).toBeLessThan(before * 1.15);
  });

  it('lets more requests than usual vary more', () => {
    const past = pastOf(720, 5);
    const usual = past.dispersion(1_000);
    expect(past.dispersion(3_000) - 1).toBeCloseTo(3 * (usual - 1), 9);
    expect(past.dispersion(10)).toBe(usual);
  });

  it('follows the rate, quickly for short horizons and slowly for long ones', () => {
    const [short, long] = [newPast(1), newPast(30)];
    for (const past of [short, long]) {
      for (let i = 0; i < 60; i++) past.forecast(30, 10);
    }
    expect(short.rate).toBeGreaterThan(2.8);
    expect(long.rate).toBeGreaterThan(2.5);
    for (const past of [short, long]) {
      for (let i = 0; i < 60; i++) past.forecast(10, 10);
    }
    expect(short.rate).toBeLessThan(1.35);
    expect(long.rate).toBeGreaterThan(1.8);
    long.forgetRate();
    expect(long.rate).toBe(1);
  });
});
