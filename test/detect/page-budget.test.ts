import { describe, expect, it } from 'vitest';
import { horizons } from '../../src/detect/horizons.ts';
import { pageBudget } from '../../src/detect/page-budget.ts';

describe('pageBudget', () => {
  it('spends exactly the budget when every test of a week spends its level', () => {
    const { alpha, logAlpha } = pageBudget(2, 10_000, 160);
    expect(alpha * 60_480 * 160 * horizons.length).toBeCloseTo(2, 12);
    expect(logAlpha).toBeCloseTo(Math.log(alpha), 12);
  });

  it('asks a thousand times more of a single window', () => {
    const { logAlpha, logAlphaSingle } = pageBudget(1, 10_000, 100);
    expect(logAlpha - logAlphaSingle).toBeCloseTo(Math.log(1000), 12);
  });

  it('never lets a test pass at more than one in a thousand', () => {
    expect(pageBudget(10_000, 3_600_000, 0).alpha).toBe(1e-3);
  });
});
