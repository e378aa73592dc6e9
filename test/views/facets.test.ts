import { describe, expect, it } from 'vitest';
import { tokenRates } from '../../src/views/facets.ts';

const facet = 'output_tokens' as const;
const value = (text: string, requests: number, first = 600, last = 1_140) => ({
  ...{ facet, value: text, requests: String(requests) },
  ...{ first_seconds: first, last_seconds: last },
});
const all = { toSeconds: 3_600, completeMs: Number.POSITIVE_INFINITY };

describe('tokens a second', () => {
  it('are known between powers of two, over the minutes that have requests', () => {
    const rows = [value('0', 60), value('1', 600), value('2-3', 60), value('64-127', 600)];
    expect(tokenRates(rows, all)).toEqual([
      {
        ...{ facet, low_per_second: 65.2, high_per_second: 128.3 },
        per_second: (600 + 60 * 2.5 + 600 * 95.5) / 600,
      },
    ]);
  });

  it('count the last minute as far as it is stored', () => {
    const rows = [value('1', 570)];
    const perSecond = (of: object) => tokenRates(rows, { ...all, ...of })[0]?.per_second;
    expect(perSecond({ toSeconds: 1_170 })).toBe(1);
    expect(perSecond({ completeMs: 1_170_000 })).toBe(1);
    // Nothing says how much of it is there.
    expect(perSecond({ completeMs: 900_000 })).toBe(570 / 600);
  });

  it('leave out values beyond the limit, and are none of other facets', () => {
    const other = { ...value('1', 5), facet: 'batch_size' as const };
    expect(tokenRates([other], all)).toEqual([]);
    const [rate] = tokenRates([value('1', 600), value('__other__', 60)], all);
    expect(rate?.per_second).toBe(1);
  });
});
