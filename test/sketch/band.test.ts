import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bandOf, bandRange } from '../../src/sketch/band.ts';
import { bandHighMs } from './band-high-ms.ts';
import { bandLowMs } from './band-low-ms.ts';

describe('bands', () => {
  it.each([
    [0, -80],
    [-0, -80],
    [Number.MIN_VALUE, -80],
    [2 ** -21, -80],
    [2 ** -20, -80],
    [0.5, -4],
    [0.999, -1],
    [1, 0],
    [1.249, 0],
    [1.25, 1],
    [1.5, 2],
    [1.75, 3],
    [2, 4],
    [84.1, 25],
    [3_600_000, 86],
    [2 ** 31, 124],
    [2 ** 32, 127],
    [Number.MAX_VALUE, 127],
    [Number.POSITIVE_INFINITY, 127],
  ])('%d ms is in band %i', (ms, band) => {
    expect(bandOf(ms)).toBe(band);
  });

  it('bounds: the low one belongs to its band, the high one to the next', () => {
    for (let band = bandRange.lowest; band < bandRange.highest; band++) {
      expect(bandOf(bandLowMs(band))).toBe(band);
      expect(bandOf(bandHighMs(band))).toBe(band + 1);
      expect(bandHighMs(band)).toBe(bandLowMs(band + 1));
    }
    expect(bandLowMs(bandRange.lowest)).toBe(0);
    expect(bandHighMs(bandRange.highest)).toBe(Infinity);
    expect(bandRange.highest - bandRange.lowest + 1).toBe(bandRange.count);
  });

  it('every duration lies within the bounds of its band', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 2 ** 40, noNaN: true }), (ms) => {
        const band = bandOf(ms);
        expect(ms).toBeGreaterThanOrEqual(bandLowMs(band));
        expect(ms).toBeLessThan(bandHighMs(band));
      }),
      { seed: 5, numRuns: 1000 },
    );
  });
});
