import { describe, expect, it } from 'vitest';
import { extentOf, hiddenWords, splitsOf } from '../../../ui/src/charts/geometry/splits.ts';
import { tailRow } from './tail-row.ts';

const row = (by: string, requests: number, p99: number | null) => {
  const quantiles = [
    { q: 0.5, ms: 8, at_least: false },
    { q: 0.99, ms: p99, at_least: false },
  ];
  return tailRow({ by, requests, quantiles });
};

describe('values of a dimension', () => {
  const rows = [
    row('region-1', 9_000, 100),
    row('region-17', 50, 812),
    row('region-2', 8_000, 2_000),
    row('region-3', 70, 90),
    row('region-4', 0, null),
  ];

  it('are those with most requests, and the slowest of the others is named', () => {
    const { shown, hidden, slowest } = splitsOf(rows, 2);
    expect(shown.map(({ by }) => by)).toEqual(['region-1', 'region-2']);
    expect(hidden).toBe(3);
    expect([slowest?.row.by, slowest?.q, slowest?.ms]).toEqual(['region-17', 0.99, 812]);
  });

  it('name none where all are shown, or where no other has the quantile', () => {
    expect(splitsOf(rows, 8)).toMatchObject({ hidden: 0, slowest: null });
    expect(splitsOf([row('a', 9, 1), row('b', 0, null)], 1)).toMatchObject({
      ...{ hidden: 1, slowest: null },
    });
  });

  it('are called slowest only among those that the answer has', () => {
    expect(hiddenWords(3, 0)).toEqual([
      '3 more with fewer requests, in the table',
      'slowest of them',
    ]);
    expect(hiddenWords(992, 11_345)).toEqual([
      '12,337 more with fewer requests, 992 of them in the table',
      'slowest of these 992',
    ]);
  });

  it('share an axis from the least to the largest percentile', () => {
    expect(extentOf(rows)).toEqual([8, 2_000]);
    expect(extentOf([])).toEqual([1, 1000]);
  });
});
