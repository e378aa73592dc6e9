import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { logExceedanceTail } from '../../../src/detect/stats/exceedance-tail.ts';

describe('logExceedanceTail', () => {
  it('refuses impossible probabilities and dispersions', () => {
    expect(() => logExceedanceTail(1, 10, 0, 1)).toThrow('BUG: a probability');
    expect(() => logExceedanceTail(1, 10, 0.1, 0.9)).toThrow('BUG: a dispersion');
  });

  // Sums of exact fractions, their logarithm to 12 digits.
  it.each([
    [10, 100, 0.05, 1, -3.568848487804],
    [30, 200, 0.01, 1, -57.806114197234],
    [2, 100, 0.05, 1, -0.0377862002],
    [10, 100, 0.05, 3, -2.114741662347],
    [3, 100, 0.05, 4, -0.418992225957],
  ])('of %d of %d at p %d, dispersion %d, is %d', (k, n, p, dispersion, expected) => {
    expect(logExceedanceTail(k, n, p, dispersion)).toBeCloseTo(expected, 9);
  });

  it('is certain at 0 and impossible beyond n', () => {
    expect(logExceedanceTail(0, 50, 0.1, 2)).toBe(0);
    expect(logExceedanceTail(51, 50, 0.1, 2)).toBe(Number.NEGATIVE_INFINITY);
  });

  it('interpolates the logarithm between whole counts', () => {
    const at = (k: number) => logExceedanceTail(k, 1000, 0.01, 1);
    expect(at(25.25)).toBeCloseTo(0.75 * at(25) + 0.25 * at(26), 10);
  });

  it('falls with the count and, in the tail, rises with the dispersion', () => {
    const count = fc.integer({ min: 1, max: 400 });
    const dispersion = fc.double({ min: 1, max: 20, noNaN: true });
    fc.assert(
      fc.property(count, dispersion, (k, d) => {
        const here = logExceedanceTail(k, 400, 0.02, d);
        expect(logExceedanceTail(k + 1, 400, 0.02, d)).toBeLessThanOrEqual(here + 1e-9);
        if (k > 60) {
          const wider = logExceedanceTail(k, 400, 0.02, d * 1.5);
          expect(wider).toBeGreaterThanOrEqual(here - 1e-9);
        }
      }),
      { seed: 2, numRuns: 200 },
    );
  });

  it('stays finite where doubles would underflow', () => {
    const logP = logExceedanceTail(5_000, 10_000, 0.01, 1.5);
    expect(logP).toBeLessThan(-750);
    expect(logP).toBeGreaterThan(Number.NEGATIVE_INFINITY);
  });
});
