import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SeriesOrder } from '../../src/detect/series-order.ts';
import { seriesKey } from '../../src/series/series-key.ts';
import { seriesOf } from './count-traffic.ts';

describe('SeriesOrder', () => {
  it('gives the key of every series, for any changes and any order of series', () => {
    const series = fc.constantFrom(
      ...Array.from({ length: 30 }, (_, i) => ({
        ...seriesOf({ version: `v${i % 3}` }),
        region: `region-${i}`,
        cold_start: i % 2 === 0,
      })),
    );
    const window = fc.uniqueArray(series, { selector: seriesKey, maxLength: 30 });
    fc.assert(
      fc.property(fc.array(window), (windows) => {
        const order = new SeriesOrder();
        for (const present of windows) {
          // Other objects with the same values, as a reader makes them.
          const read = present.map((series) => ({ series: { ...series } }));
          expect(order.keysOf(read)).toEqual(present.map(seriesKey));
        }
      }),
      { seed: 20261123, numRuns: 100 },
    );
  });
});
