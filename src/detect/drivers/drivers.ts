import { type FacetBands, type SlowCount, slowCountOf, sumOfCounts } from './slow-band.ts';

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
 */
export function driversOf(facets: readonly FacetBands[], slowBand: number): Driver[] {
  const found: { readonly driver: Driver; readonly weight: number }[] = [];
  for (const facet of new Set(facets.map((each) => each.facet))) {
    const values = facets
      .filter((each) => each.facet === facet)
      .map(({ value, now, baseline }) => ({
        value,
        now: slowCountOf(now, slowBand),
        baseline: slowCountOf(baseline, slowBand),
      }));
    const all = sumOfCounts(values.map(({ now }) => now));
    const baseline = sumOfCounts(values.map((count) => count.baseline));
    if (all.slow < tuned.minSlow) continue;
    const baselineRate = rateOf(baseline);
    const excess = rateOf(all) - baselineRate;
    const isRise = baseline.requests > 0 && excess >= tuned.minExcess * baselineRate;
    for (const { value, now, baseline: before } of values) {
      const driver: Driver = {
        facet,
        value,
        share_of_slow: now.slow / all.slow,
        share_of_all: now.requests / all.requests,
        baseline_share_of_all: baseline.requests > 0 ? before.requests / baseline.requests : 0,
        slow_rate: rateOf(now),
        slow_rate_of_others: rateOfOthers(now, all),
        baseline_slow_rate: rateOf(before),
        baseline_slow_rate_of_others: rateOfOthers(before, baseline),
      };
      const { share_of_slow, share_of_all, baseline_share_of_all, baseline_slow_rate } = driver;
      // Rise that results if only this share had changed (Kitagawa 1955).
      const more = (share_of_all - baseline_share_of_all) * (baseline_slow_rate - baselineRate);
      const explained = isRise ? Math.min(1, more / excess) : 0;
      const isMore = share_of_all > baseline_share_of_all && explained >= tuned.minExplained;
      if (isMore || (now.requests < all.requests && isLopsided(driver))) {
        const weight = Math.max(share_of_slow - share_of_all, isMore ? explained : 0);
        found.push({ driver, weight });
      }
    }
  }
  return found.sort((a, b) => b.weight - a.weight).map(({ driver }) => driver);
}

function isLopsided(driver: Driver): boolean {
  const { share_of_slow, slow_rate, slow_rate_of_others } = driver;
  if (share_of_slow < tuned.minShare || slow_rate < tuned.minLift * slow_rate_of_others)
    return false;
  // The baseline has no ratio if no other request was slow in it.
  const baseline = driver.baseline_slow_rate / driver.baseline_slow_rate_of_others;
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
