import { describe, expect, it } from 'vitest';
import { seriesKey } from '../../src/series/series-key.ts';

const series = {
  ...{ service: 'a', model: 'b', version: '', request_type: '', region: '', host: '' },
  ...{ tenant: '', cold_start: false },
};

describe('seriesKey', () => {
  it('does not depend on the order of the fields', () => {
    const turned = Object.fromEntries(Object.entries(series).reverse()) as typeof series;
    expect(seriesKey(turned)).toBe(seriesKey(series));
  });

  it('keeps apart values that join to the same text', () => {
    const others = [
      { ...series, service: 'ab', model: '' },
      { ...series, service: 'a","b', model: '' },
      { ...series, cold_start: true },
    ];
    expect(new Set([series, ...others].map(seriesKey)).size).toBe(4);
  });
});
