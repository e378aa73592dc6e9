import { type FacetBands, type SlowCount, slowCountOf, sumOfCounts } from './slow-band.ts';

/** Requests now and in the baseline, and the slow ones among them. */
export interface Counted {
  readonly now: SlowCount;
  readonly baseline: SlowCount;
}

/** What is known of the requests by dimension. */
export interface Scope {
  readonly all: Counted;
  /** Requests with one value of a dimension, or of one series. */
  readonly slices: readonly Counted[];
}

/** A value that drives a tail: see `driversOf`. Shares and rates are 0 to 1. */
export interface Driver {
  readonly facet: string;
  readonly value: string;
  /** Shares of the slow requests, and of all, that have the value. */
  readonly share_of_slow: number;
  readonly share_of_all: number;
  /** Share of all requests in the baseline that have the value. */
  readonly baseline_share_of_all: number;
  /** Slow share of the requests with the value, and of those without it. */
  readonly slow_rate: number;
  readonly slow_rate_of_others: number;
  /** The same in the baseline; 0 where it has no request. */
  readonly baseline_slow_rate: number;
  readonly baseline_slow_rate_of_others: number;
}

/** Limits, chosen by hand; test/detect/drivers/drivers.test.ts holds them. */
const tuned = {
  /** Fewest slow requests of a facet. */
  minSlow: 10,
  /** Minimum of a driver's share of slow requests, and of its slow rate against that of others. */
  minShare: 0.2,
  minLift: 2,
  /** Minimum of its share of slow requests beyond its share of all: of nearly all requests nothing is said. */
  minBeyond: 0.05,
  /** Minimum growth of that ratio since the baseline. */
  minLiftGrowth: 1.5,
  /** Minimum part of a rise that more requests with the value explain, and of the rise itself. */
  minExplained: 0.5,
  minExcess: 0.5,
} as const;

/**
 * Values of facets that drive a tail, those that explain most first. One kind is far more frequent among slow
 * requests, and more so than in the baseline. The other is as slow as ever, but more frequent: after the
 * loss of a cache all requests are misses. Values of one facet exclude each other; facets overlap, so
 * several may describe one cause.
 *
 * A value that a slow dimension explains is left out: each host of a slow region is slow, and says no more than
 * the region does. Facets are counted without dimensions, so how many of a value's requests are of the region is
 * unknown. It is named only if it is a driver even where as many as possible are.
 */
export function driversOf(
  facets: readonly FacetBands[],
  slowBand: number,
  scope?: Scope,
): Driver[] {
  const slow = scope?.slices.filter((slice) => weightOf(slice, scope.all) > 0) ?? [];
  const found: { readonly driver: Driver; readonly weight: number }[] = [];
  for (const facet of new Set(facets.map((each) => each.facet))) {
    const values = facets
      .filter((each) => each.facet === facet)
      .map(({ value, now, baseline }) => ({
        value,
        now: slowCountOf(now, slowBand),
        baseline: slowCountOf(baseline, slowBand),
      }));
    const all = {
      now: sumOfCounts(values.map(({ now }) => now)),
      baseline: sumOfCounts(values.map(({ baseline }) => baseline)),
    };
    for (const value of values) {
      const weight = weightOf(value, all);
      if (weight === 0) continue;
      if (scope !== undefined && slow.some((slice) => explains(slice, value, scope.all))) continue;
      found.push({ driver: { facet, value: value.value, ...numbersOf(value, all) }, weight });
    }
  }
  return found.sort((a, b) => b.weight - a.weight).map(({ driver }) => driver);
}

/** How much of the slow requests a part of all requests explains, in (0, 1]; 0 if it is no driver. */
function weightOf(part: Counted, all: Counted): number {
  if (all.now.slow < tuned.minSlow) return 0;
  const numbers = numbersOf(part, all);
  const { share_of_slow, share_of_all, baseline_share_of_all, baseline_slow_rate } = numbers;
  const baselineRate = rateOf(all.baseline);
  const excess = rateOf(all.now) - baselineRate;
  const isRise = all.baseline.requests > 0 && excess >= tuned.minExcess * baselineRate;
  // Rise that results if only this share had changed (Kitagawa 1955).
  const more = (share_of_all - baseline_share_of_all) * (baseline_slow_rate - baselineRate);
  const explained = isRise ? Math.min(1, more / excess) : 0;
  const isMore = share_of_all > baseline_share_of_all && explained >= tuned.minExplained;
  if (!isMore && !(part.now.requests < all.now.requests && isLopsided(numbers))) return 0;
  return Math.max(share_of_slow - share_of_all, isMore ? explained : 0);
}

/** True where a slow slice leaves nothing for the value to explain. */
function explains(slice: Counted, value: Counted, all: Counted): boolean {
  const isWithin = value.now.requests < slice.now.requests;
  return isWithin
    ? weightOf(zip(value, slice, Math.min), slice) === 0
    : weightOf(zip(value, slice, less), zip(all, slice, less)) === 0;
}

function zip(one: Counted, other: Counted, by: (a: number, b: number) => number): Counted {
  const zipped = (a: SlowCount, b: SlowCount) => {
    return { requests: by(a.requests, b.requests), slow: by(a.slow, b.slow) };
  };
  return {
    now: zipped(one.now, other.now),
    baseline: zipped(one.baseline, other.baseline),
  };
}

function less(a: number, b: number): number {
  return Math.max(0, a - b);
}

function numbersOf({ now, baseline }: Counted, all: Counted): Omit<Driver, 'facet' | 'value'> {
  const share = (part: number, whole: number) => (whole > 0 ? part / whole : 0);
  return {
    share_of_slow: share(now.slow, all.now.slow),
    share_of_all: share(now.requests, all.now.requests),
    baseline_share_of_all: share(baseline.requests, all.baseline.requests),
    slow_rate: rateOf(now),
    slow_rate_of_others: rateOfOthers(now, all.now),
    baseline_slow_rate: rateOf(baseline),
    baseline_slow_rate_of_others: rateOfOthers(baseline, all.baseline),
  };
}

function isLopsided(numbers: ReturnType<typeof numbersOf>): boolean {
  const { share_of_slow, share_of_all, slow_rate, slow_rate_of_others } = numbers;
  if (share_of_slow < Math.max(tuned.minShare, share_of_all + tuned.minBeyond)) return false;
  if (slow_rate < tuned.minLift * slow_rate_of_others) return false;
  // The baseline has no ratio if no other request was slow in it.
  const baseline = numbers.baseline_slow_rate / numbers.baseline_slow_rate_of_others;
  return (
    !Number.isFinite(baseline) || slow_rate >= tuned.minLiftGrowth * baseline * slow_rate_of_others
  );
}

function rateOf({ requests, slow }: SlowCount): number {
  return requests > 0 ? slow / requests : 0;
}

function rateOfOthers(one: SlowCount, all: SlowCount): number {
  return rateOf({ requests: all.requests - one.requests, slow: all.slow - one.slow });
}
