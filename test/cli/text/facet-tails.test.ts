import { describe, expect, it } from 'vitest';
import {
  facetQuantiles,
  inShownOrder,
  renderFacetTails,
} from '../../../src/cli/text/facet-tails.ts';
import type { FacetValue } from '../../../src/sink/read-facets.ts';
import { facetGroups } from '../../../ui/src/charts/geometry/facets.ts';

type Row = Omit<FacetValue, 'bands'>;

const row = (facet: Row['facet'], value: string, requests: number, p99: number): Row => ({
  ...{ facet, value, requests },
  quantiles: facetQuantiles.map((q) => {
    // The p99.9 of a value with few requests is any number: it orders nothing.
    const ms = q === 0.999 ? 10_000 - p99 : p99 * q;
    return { q, ms, low_ms: ms, high_ms: ms };
  }),
});

/** By requests, as they are stored. */
const cases = {
  input_tokens: ['64-127', '1024-2047', '4-7', '0', '512-1023'],
  queue_depth: ['2-3', '16-31', '1'],
  host: ['pod-1', 'pod-10', 'pod-2'],
  cache_hit: ['hit', 'miss'],
} as const;

describe('tails by a facet', () => {
  it.each([
    ['input_tokens', ['0', '4-7', '64-127', '512-1023', '1024-2047']],
    ['queue_depth', ['1', '2-3', '16-31']],
    ['host', ['pod-10', 'pod-1', 'pod-2']],
    ['cache_hit', ['miss', 'hit']],
  ] as const)(
    '%s have sizes that go up, and names from the slowest on, as on the page',
    (facet, expected) => {
      const p99 = [100, 140, 100, 90, 80];
      const rows = cases[facet].map((value, i) => row(facet, value, 1_000 - i, p99[i] ?? 0));
      expect(inShownOrder(rows).map(({ value }) => value)).toEqual(expected);
      const shown = rows.map((each) => ({
        ...each,
        quantiles: each.quantiles.filter(({ q }) => q <= 0.99),
      }));
      expect(facetGroups(shown)[0]?.rows.map(({ value }) => value)).toEqual(expected);
    },
  );

  it('say of which requests they are', () => {
    const shown = renderFacetTails([row('host', 'pod-1', 26, 100)], false);
    expect(shown).toContain('whole requests of all regions, types and starts;');
    expect(shown).toContain('*≈9,900 ms\n* few requests: p50 needs 40,');
  });
});
