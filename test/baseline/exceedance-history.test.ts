import { describe, expect, it } from 'vitest';
import { ExceedanceHistory } from '../../src/baseline/exceedance-history.ts';
import { SeededRandom } from '../scenarios/seeded-random.ts';

/** A history of normal residuals of the given variance against a binomial variance of 10. */
function historyOf(windows: number, dispersion: number, memory = 0): ExceedanceHistory {
  const random = new SeededRandom(8);
  const history = new ExceedanceHistory(720);
  let residual = 0;
  for (let i = 0; i < windows; i++) {
    residual = memory * residual + Math.sqrt(1 - memory ** 2) * random.normal();
    history.add({ excess: residual * Math.sqrt(10 * dispersion), variance: 10, requests: 1000 });
  }
  return history;
}

describe('ExceedanceHistory', () => {
  it('is cautious before it knows anything', () => {
    // The prior of 4, raised by two standard errors of 20 observations.
    expect(new ExceedanceHistory(60).dispersion(1)).toBeCloseTo(4 * (1 + 2 * Math.sqrt(0.1)), 12);
  });

  it('is never below 1, however calm the past', () => {
    expect(historyOf(720, 0.01).dispersion(1)).toBe(1);
  });

  it.each([1, 5, 20])('finds a dispersion of %d to within its margin', (dispersion) => {
    const found = historyOf(720, dispersion).dispersion(1);
    expect(found).toBeGreaterThan(dispersion * 0.95);
    expect(found).toBeLessThan(dispersion * 1.3);
  });

  it('is not moved by lone outliers', () => {
    const history = historyOf(710, 2);
    const before = history.dispersion(1);
    for (let i = 0; i < 7; i++) history.add({ excess: 1000, variance: 10, requests: 1000 });
    expect(history.dispersion(1)).toBeLessThan(before * 1.15);
  });

  it('shows in longer sums what neighbouring windows have in common', () => {
    const independent = historyOf(720, 2);
    const sluggish = historyOf(720, 2, 0.9);
    expect(independent.dispersion(6)).toBeLessThan(3.5);
    expect(sluggish.dispersion(6)).toBeGreaterThan(5);
  });

  it('forgets windows beyond its capacity', () => {
    const history = new ExceedanceHistory(60);
    for (let i = 0; i < 100; i++) history.add({ excess: 100, variance: 10, requests: 1 });
    for (let i = 0; i < 60; i++) history.add({ excess: 0, variance: 10, requests: 7 });
    expect(history.size).toBe(60);
    expect(history.meanRequests()).toBe(7);
    expect(history.dispersion(1)).toBeCloseTo(((4 * 20) / 80) * (1 + 2 * Math.sqrt(2 / 80)), 12);
  });
});
