import { describe, expect, it } from 'vitest';
import { mergeBands } from '../../src/series/bands.ts';

describe('mergeBands', () => {
  it('of nothing is nothing', () => {
    expect(mergeBands([])).toEqual({ bands: [], amounts: [] });
  });

  it('sums amounts by band, in ascending order, below zero too', () => {
    const one = { bands: [-2, 4], amounts: [1, 2] };
    const other = { bands: [-10, 4, 12], amounts: [5, 6, 7] };
    const merged = { bands: [-10, -2, 4, 12], amounts: [5, 1, 8, 7] };
    expect(mergeBands([one, other])).toEqual(merged);
    expect(mergeBands([other, one])).toEqual(merged);
  });
});
