import { describe, expect, it } from 'vitest';
import { baselineSlowBand, slowBandOf, sumOfBands } from '../../../src/detect/drivers/slow-band.ts';

describe('the slow band', () => {
  it('is the lowest of those from the top that hold the share', () => {
    const byBand = new Map([
      [10, 900],
      [20, 60],
      [-3, 0],
      [30, 40],
    ]);
    expect(slowBandOf(byBand, 0.01)).toBe(30);
    expect(slowBandOf(byBand, 0.04)).toBe(30);
    expect(slowBandOf(byBand, 0.05)).toBe(20);
    expect(slowBandOf(byBand, 0.5)).toBe(10);
  });

  it('is absent without requests', () => {
    expect(slowBandOf(new Map(), 0.01)).toBeUndefined();
    expect(baselineSlowBand(new Map(), 0.01)).toBeUndefined();
  });

  it('of baseline requests is the next one where far more than the share lie in it', () => {
    const parts = [new Map([[10, 940]]), new Map([[20, 60]])];
    expect(sumOfBands([...parts, new Map([[20, 1]])])).toEqual(
      new Map([
        [10, 940],
        [20, 61],
      ]),
    );
    expect(baselineSlowBand(sumOfBands(parts), 0.05)).toBe(20);
    expect(baselineSlowBand(sumOfBands(parts), 0.02)).toBe(20);
    expect(baselineSlowBand(sumOfBands(parts), 0.01)).toBe(21);
  });
});
