import { expect, it } from 'vitest';
import { valueText } from '../../src/series/value-text.ts';

it('a request without a value is shown differently from one with the value "(none)"', () => {
  expect(['', '(none)', 'lora-7', '"(none)"'].map(valueText)).toEqual([
    ...['(none)', '"(none)"', 'lora-7', '"(none)"'],
  ]);
});
