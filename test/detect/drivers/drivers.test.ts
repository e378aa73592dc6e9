import { describe, expect, it } from 'vitest';
import { type Counted, driversOf } from '../../../src/detect/drivers/drivers.ts';
import type { FacetBands } from '../../../src/detect/drivers/slow-band.ts';

interface Counts {
  readonly requests?: number;
  readonly slow?: number;
  readonly baselineRequests?: number;
  readonly baselineSlow?: number;
}

/** Fast requests are of band 0, slow ones of band 1. */
function countOf(value: string, counts: Counts): FacetBands {
  const { requests = 0, slow = 0, baselineRequests = 0, baselineSlow = 0 } = counts;
  const bandsOf = (...amounts: readonly number[]) => new Map(amounts.entries());
  const baseline = bandsOf(baselineRequests - baselineSlow, baselineSlow);
  return { facet: 'host', value, now: bandsOf(requests - slow, slow), baseline };
}

const driversIn = (counts: readonly FacetBands[]) => driversOf(counts, 1);

describe('drivers', () => {
  it('are values that slow requests have far more often, and more so than in the baseline', () => {
    const baseline = { baselineRequests: 1_000, baselineSlow: 10 };
    expect(
      driversIn([
        countOf('bad', { requests: 100, slow: 60, ...baseline }),
        countOf('good', { requests: 300, slow: 15, ...baseline }),
        countOf('other', { requests: 600, slow: 25, ...baseline }),
      ]),
    ).toEqual([
      {
        facet: 'host',
        value: 'bad',
        share_of_slow: 0.6,
        share_of_all: 0.1,
        baseline_share_of_all: 1 / 3,
        slow_rate: 0.6,
        slow_rate_of_others: 40 / 900,
        baseline_slow_rate: 0.01,
        baseline_slow_rate_of_others: 0.01,
      },
    ]);
  });

  it('come sorted by how much they explain, over all facets', () => {
    const two = (facet: string, value: string, slow: number) => [
      { ...countOf(value, { requests: 100, slow }), facet },
      { ...countOf('rest', { requests: 900, slow: 100 - slow }), facet },
    ];
    const found = driversIn([...two('batch_size', '64-127', 40), ...two('host', 'pod-7', 90)]);
    expect(found.map(({ facet, value }) => `${facet} ${value}`)).toEqual([
      'host pod-7',
      'batch_size 64-127',
    ]);
    expect(found[0]?.baseline_slow_rate).toBe(0);
  });

  it.each([
    [
      'were as lopsided before',
      { requests: 100, slow: 60, baselineRequests: 100, baselineSlow: 55 },
    ],
    ['have few of the slow ones', { requests: 20, slow: 15 }],
    ['are slow hardly more often', { requests: 400, slow: 50 }],
  ])('exclude values that %s', (_, counts) => {
    const rest = { requests: 900, slow: 85, baselineRequests: 900, baselineSlow: 45 };
    expect(driversIn([countOf('one', counts), countOf('rest', rest)])).toEqual([]);
  });

  it('are empty where hardly anything is slow, or all have the value', () => {
    const few = [countOf('a', { requests: 10, slow: 9 }), countOf('b', { requests: 90 })];
    expect(driversIn(few)).toEqual([]);
    expect(driversIn([countOf('all', { requests: 100, slow: 50 })])).toEqual([]);
  });

  it('may be slow alone: no other value is', () => {
    const counts = [countOf('a', { requests: 10, slow: 10 }), countOf('b', { requests: 90 })];
    expect(driversIn(counts)).toMatchObject([
      { value: 'a', share_of_slow: 1, slow_rate: 1, slow_rate_of_others: 0 },
    ]);
  });

  it('exclude values that are as slow as before, if so many more requests have them', () => {
    const lost = [
      countOf('miss', { requests: 1_000, slow: 200, baselineRequests: 200, baselineSlow: 40 }),
      countOf('hit', { baselineRequests: 800, baselineSlow: 8 }),
    ];
    expect(driversIn(lost)).toEqual([
      {
        ...{
          facet: 'host',
          value: 'miss',
          share_of_slow: 1,
          share_of_all: 1,
          baseline_share_of_all: 0.2,
        },
        ...{ slow_rate: 0.2, slow_rate_of_others: 0 },
        ...{ baseline_slow_rate: 0.2, baseline_slow_rate_of_others: 0.01 },
      },
    ]);
    // Slower requests explain more of it than their larger number.
    const slower = [
      countOf('miss', { requests: 300, slow: 280, baselineRequests: 200, baselineSlow: 40 }),
      countOf('hit', { requests: 700, slow: 600, baselineRequests: 800, baselineSlow: 8 }),
    ];
    expect(driversIn(slower)).toEqual([]);
  });

  describe('of a slow dimension', () => {
    const baselineOf = (requests: number) => ({ requests, slow: requests / 100 });
    const sliceOf = (requests: number, slow: number): Counted => ({
      now: { requests, slow },
      baseline: baselineOf(requests),
    });
    const hostOf = (value: string, requests: number, slow: number) =>
      countOf(value, { requests, slow, baselineRequests: requests, baselineSlow: requests / 100 });
    /** Of 1,000 requests, with a region of so many that has so many of the slow ones. */
    const namedWith = (requests: number, slow: number, values: readonly FacetBands[]) => {
      const total = values.reduce((sum, { now }) => sum + (now.get(1) ?? 0), 0);
      const region = sliceOf(requests, slow);
      const all = sliceOf(1_000, total);
      const slices = [region, sliceOf(1_000 - requests, total - slow), all];
      return driversOf(values, 1, { all, slices }).map(({ value }) => value);
    };
    const rest = hostOf('rest', 600, 6);

    it('are none of its values that are as slow as the others', () => {
      const hosts = [hostOf('a', 200, 100), hostOf('b', 200, 100)];
      expect(driversIn([...hosts, rest])).toHaveLength(2);
      expect(namedWith(400, 200, [...hosts, rest])).toEqual([]);
    });

    it('are the values that are slower than the others', () => {
      const hosts = [hostOf('bad', 200, 150), hostOf('b', 200, 20)];
      expect(namedWith(400, 170, [...hosts, rest])).toEqual(['bad']);
    });

    it('are none where one value is all of it', () => {
      expect(namedWith(400, 200, [hostOf('only', 400, 200), rest])).toEqual([]);
      expect(namedWith(390, 195, [hostOf('only', 400, 195), rest])).toEqual([]);
    });

    it('are values that are slow outside of it too', () => {
      const sizes = [hostOf('large', 400, 200), rest];
      expect(namedWith(200, 100, sizes)).toEqual(['large']);
    });

    it('are values of which the dimension was as slow before', () => {
      const slow = { requests: 100, slow: 100 };
      const cold: Counted = { now: slow, baseline: slow };
      const all: Counted = {
        now: { requests: 1_000, slow: 160 },
        baseline: { requests: 1_000, slow: 110 },
      };
      const values = [hostOf('bad', 100, 60), hostOf('rest', 900, 100)];
      const found = driversOf(values, 1, { all, slices: [cold, all] });
      expect(found.map(({ value }) => value)).toEqual(['bad']);
    });
  });
});
