import { describe, expect, it } from 'vitest';
import { sizesOfAsked } from '../../../src/views/lengths/read-mix.ts';

const size = (facet: string, requests: number) => {
  return { facet, value: '64-127', requests, bands: new Map([[0, requests]]) };
};
const whole = { region: '', requestType: '', attributePairs: [] };

describe('sizes of the requests asked for', () => {
  it('are all of a whole model, with requests of no size and with cold starts', () => {
    const sizes = [size('input_tokens', 50), size('output_tokens', 200)];
    expect(sizesOfAsked(whole, sizes, 100)).toEqual(sizes);
  });

  it.each([
    { ...whole, region: 'eu' },
    { ...whole, requestType: 'chat' },
    { ...whole, attributePairs: ['gpu=h100'] },
  ])('are those that others have nothing of: %j', (filters) => {
    const [some, more] = [size('input_tokens', 60), size('output_tokens', 60)];
    const sizes = [some, { ...some, value: '128-255', requests: 43 }, more, more];
    // 103 of 100 requests have one of the first, 120 one of the second.
    expect(sizesOfAsked(filters, sizes, 100)).toEqual(sizes.slice(0, 2));
    expect(sizesOfAsked(filters, sizes, 99)).toEqual([]);
  });
});
