import { describe, expect, it } from 'vitest';
import { DeadLetterBudget } from '../../../src/ingest/letters/dead-letter-budget.ts';

describe('DeadLetterBudget', () => {
  it('allows ten seconds’ worth at once, and the rate from then on', () => {
    const budget = new DeadLetterBudget(100);
    expect(budget.spend(1_500, 5_000)).toBe(1_000);
    expect(budget.spend(1, 5_000)).toBe(0);
    expect(budget.spend(1, 5_009)).toBe(0);
    expect(budget.spend(5, 5_025)).toBe(2);
    let spent = 0;
    for (let ms = 5_025; ms <= 65_025; ms += 7) spent += budget.spend(1_000, ms);
    expect(spent).toBeGreaterThanOrEqual(5_999);
    expect(spent).toBeLessThanOrEqual(6_000);
  });

  it('saves up ten seconds’ worth at most', () => {
    const budget = new DeadLetterBudget(3);
    expect(budget.spend(30, 0)).toBe(30);
    expect(budget.spend(1_000, 86_400_000)).toBe(30);
  });

  it('of 0 allows none', () => {
    const budget = new DeadLetterBudget(0);
    expect(budget.spend(5, 0)).toBe(0);
    expect(budget.spend(5, 1e9)).toBe(0);
    expect(budget.report(1e9)).toBe(10);
  });

  it('reports suppressed letters once in ten seconds, each letter once', () => {
    const budget = new DeadLetterBudget(0);
    expect(budget.report(0)).toBe(0);
    budget.spend(4, 0);
    expect(budget.report(0)).toBe(4);
    budget.spend(5, 1);
    expect(budget.report(9_999)).toBe(0);
    budget.spend(6, 9_999);
    expect(budget.report(10_000)).toBe(11);
    expect(budget.report(30_000)).toBe(0);
  });
});
