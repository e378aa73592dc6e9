import { describe, expect, it } from 'vitest';
import { poissonUpperBound } from './poisson-bound.ts';

describe('poissonUpperBound', () => {
  // Garwood's table, 95 %, two-sided.
  it.each([
    [0, 3.689],
    [1, 5.572],
    [5, 11.668],
    [20, 30.888],
  ])('of %d is %d', (count, bound) => {
    expect(poissonUpperBound(count)).toBeCloseTo(bound, 3);
  });
});
