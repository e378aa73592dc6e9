import { describe, expect, it } from 'vitest';
import { logStudentTail } from '../../../src/detect/stats/student-tail.ts';

/** P(T > t) in closed form, of 2 and 4 degrees of freedom. */
const exact: Readonly<Record<number, (t: number) => number>> = {
  2: (t) => 1 / (Math.sqrt(2 + t * t) * (Math.sqrt(2 + t * t) + t)),
  4: (t) => {
    const x = t / Math.sqrt(4 + t * t);
    return 0.5 - 0.75 * (x - x ** 3 / 3);
  },
};

describe('logStudentTail', () => {
  it.each([2, 4])('is a bound, far in the tail ν / (ν - 1) times the chance: ν = %i', (freedom) => {
    const chance = exact[freedom] as (t: number) => number;
    for (const t of [0.5, 1, 2, 3, 5, 10, 100, 1000]) {
      const bound = Math.exp(logStudentTail(t, freedom));
      // The closed form for 4 is a difference that loses its digits far in the tail.
      if (t <= 100) expect(bound).toBeGreaterThanOrEqual(chance(t) * (1 - 1e-9));
      if (t === 100) expect(bound / chance(t)).toBeCloseTo(freedom / (freedom - 1), 2);
    }
  });

  it('approaches the normal distribution for many degrees of freedom', () => {
    // P(Z > 4) is 3.167e-5; the bound of Mills is 1 + 1/16 of that.
    expect(Math.exp(logStudentTail(4, 1e6)) / 3.167e-5).toBeCloseTo(1.0567, 3);
  });

  it('is 0 for values that are not above 0', () => {
    expect(logStudentTail(0, 5)).toBe(0);
    expect(logStudentTail(-3, 5)).toBe(0);
    expect(logStudentTail(Number.NaN, 5)).toBe(0);
    expect(() => logStudentTail(1, 1)).toThrow(/more than 1/);
  });
});
