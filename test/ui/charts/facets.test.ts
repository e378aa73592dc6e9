import { describe, expect, it } from 'vitest';
import { facetGroups, largestSpread } from '../../../ui/src/charts/geometry/facets.ts';
import type { FacetRow } from '../../../ui/src/data/answers.ts';

const row = (facet: string, value: string, requests: number, p99: number | null): FacetRow => ({
  ...{ facet, value, requests },
  quantiles: [
    { q: 0.5, ms: 8, low_ms: 8, high_ms: 10 },
    { q: 0.99, ms: p99, low_ms: p99, high_ms: p99 },
  ],
});

const rows = [
  row('host', 'pod-1', 5_000, 100),
  row('host', 'pod-2', 5_000, 140),
  row('input_tokens', '64-127', 60_000, 90),
  row('input_tokens', '4-7', 10_000, 60),
  row('input_tokens', '512-1023', 290_000, 240),
  // Too few of its facet's requests to count.
  row('input_tokens', '2048-4095', 2_100, 9_000),
];

describe('values of facets', () => {
  it('go up by size, and from the slowest on by name', () => {
    const groups = facetGroups(rows);
    expect(groups.map(({ facet, rows }) => [facet, rows.map(({ value }) => value)])).toEqual([
      ['input_tokens', ['4-7', '64-127', '512-1023', '2048-4095']],
      ['host', ['pod-2', 'pod-1']],
    ]);
  });

  it('begin with the tokens of prompts, then of answers', () => {
    const names = ['host', 'batch_size', 'output_tokens', 'input_tokens'];
    const groups = facetGroups(names.map((name) => row(name, '1', 10, 5)));
    expect(groups.map(({ facet }) => facet)).toEqual([
      ...['input_tokens', 'output_tokens', 'host', 'batch_size'],
    ]);
  });

  it('differ most by the facet whose slowest value is the most times its fastest', () => {
    const spread = largestSpread(facetGroups(rows));
    expect(spread).toMatchObject({ facet: 'input_tokens', lowMs: 60, highMs: 240 });
    expect([spread?.fastest.value, spread?.slowest.value]).toEqual(['4-7', '512-1023']);
  });

  it('count where enough requests lie beyond the percentile', () => {
    const few = row('host', 'pod-3', 1_999, 900);
    const [slowest, most] = [few, { ...few, requests: 2_000 }].map(
      (host) => largestSpread(facetGroups([...rows.slice(0, 2), host]))?.slowest.value,
    );
    expect([slowest, most]).toEqual([undefined, 'pod-3']);
  });

  it('differ by none where bands alone explain it', () => {
    expect(largestSpread(facetGroups(rows.slice(0, 2)))).toBeUndefined();
  });
});
