import { describe, expect, it } from 'vitest';
import {
  dimensionValue,
  ownDimensionsOf,
  seriesKey,
  seriesOf,
  seriesOfKey,
} from '../../src/series/series-key.ts';
import type { Series } from '../../src/series/series-window.ts';

const series: Series = {
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

describe('a series with own dimensions', () => {
  const own = { ...series, attributes: 'adapter=a%2Cb,gpu=h100' };

  it('has a key of its own, and without them that of before', () => {
    expect(seriesKey(series)).toBe('["a","b","","","","","",false]');
    expect(seriesKey(own)).toBe('["a","b","","","","","",false,"adapter=a%2Cb,gpu=h100"]');
    for (const each of [series, own]) {
      expect(seriesOfKey(seriesKey(each))).toEqual(each);
      expect(seriesOf({ ...each, kind: 'other' } as typeof each)).toEqual(each);
    }
  });

  it('has their values by name', () => {
    expect(ownDimensionsOf([series, own])).toEqual(['attributes.adapter', 'attributes.gpu']);
    expect(dimensionValue(own, 'attributes.adapter')).toBe('a,b');
    expect(dimensionValue(series, 'attributes.adapter')).toBe('');
    expect(dimensionValue(own, 'cold_start')).toBe('false');
  });
});
