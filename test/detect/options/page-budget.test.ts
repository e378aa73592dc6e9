import { describe, expect, it } from 'vitest';
import { pageBudget } from '../../../src/detect/options/page-budget.ts';

describe('pageBudget', () => {
  it('spends exactly the budget when every test spends its level', () => {
    expect(pageBudget(2, 160).perWeek * 160).toBeCloseTo(2, 12);
  });

  it('is that of one test while there is none', () => {
    expect(pageBudget(1, 0)).toEqual(pageBudget(1, 1));
  });
});
