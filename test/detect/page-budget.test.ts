import { describe, expect, it } from 'vitest';
import { horizons } from '../../src/detect/horizons.ts';
import { pageBudget } from '../../src/detect/page-budget.ts';

describe('pageBudget', () => {
  it('spends exactly the budget when every test and horizon spends its level', () => {
    const { perWeek } = pageBudget(2, 160);
    expect(perWeek * 160 * horizons.length).toBeCloseTo(2, 12);
  });

  it('is that of one test while there is none', () => {
    expect(pageBudget(1, 0)).toEqual(pageBudget(1, 1));
  });
});
