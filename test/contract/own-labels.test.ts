// Covers src/contract/format.ts.

import { expect, it } from 'vitest';
import { ownLabels, seriesLabel } from '../../src/contract/format.ts';
import { attributesText } from '../../src/series/attributes.ts';

it('shows own dimensions as they were sent, and a filter of those without one', () => {
  const attributes = attributesText([
    ['adapter', 'lora,2 100%'],
    ['pool', 'a\u0085b'],
  ]);
  expect(attributes).toBe('adapter=lora%2C2 100%25,pool=a%C2%85b');
  const absent = { service: '', version: '', request_type: '', region: '', host: '', tenant: '' };
  const series = { ...absent, model: 'llm', cold_start: false, attributes };
  expect(seriesLabel(series)).toBe('llm (adapter=lora,2 100%, pool=a\u0085b)');
  expect(ownLabels({ attributes: 'adapter=,pool=(none)' })).toEqual([
    'adapter=(none)',
    'pool="(none)"',
  ]);
  expect(ownLabels({ attributes: '__other__' })).toEqual(['__other__']);
  expect(ownLabels({})).toEqual([]);
});
