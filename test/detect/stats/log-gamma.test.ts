import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { logGamma } from '../../../src/detect/stats/log-gamma.ts';

describe('logGamma', () => {
  it('refuses non-positive values as a bug of tailmark', () => {
    expect(() => logGamma(0)).toThrow('BUG: logGamma needs a positive argument: it is 0');
  });

  // Values of the C library's lgamma, printed to 17 digits.
  it.each([
    [0.01, 4.599479878042022],
    [0.5, 0.5723649429247004],
    [1, 0],
    [1.5, -0.12078223763524543],
    [2, 0],
    [3.7, 1.4280723266653883],
    [10, 12.801827480081467],
    [123.456, 469.60554712992956],
    [1e6, 12815504.569147611],
  ])('of %d is %d', (x, expected) => {
    expect(Math.abs(logGamma(x) - expected)).toBeLessThan(1e-13 * Math.max(1, Math.abs(expected)));
  });

  it('obeys Γ(x + 1) = x Γ(x)', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-3, max: 1e5, noNaN: true }), (x) => {
        const error = Math.abs(logGamma(x + 1) - logGamma(x) - Math.log(x));
        return error < 1e-12 * Math.max(1, Math.abs(logGamma(x + 1)));
      }),
      { seed: 1 },
    );
  });
});
