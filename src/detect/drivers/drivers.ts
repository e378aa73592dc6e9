/** Requests that had one value of a facet, and how many of them were slow; now, and as is usual. */
export interface DriverCount {
  readonly facet: string;
  readonly value: string;
  readonly requests: number;
  readonly slow: number;
  readonly baselineRequests: number;
  readonly baselineSlow: number;
}

/** A value that carries a tail: see `driversOf`. Parts and rates are 0 to 1. */
export interface Driver {
  readonly facet: string;
  readonly value: string;
  /** Part of the slow requests, and of all, that have the value. */
  readonly share_of_slow: number;
  readonly share_of_all: number;
  /** Part of all that usually have it. */
  readonly baseline_share_of_all: number;
  /** How many of the requests with the value are slow, and how many of those without it. */
  readonly slow_rate: number;
  readonly slow_rate_of_others: number;
  /** The same in the range that it is compared with; 0 where there was no request. */
  readonly baseline_slow_rate: number;
  readonly baseline_slow_rate_of_others: number;
}

/** Fewer slow requests say nothing about what they have in common. */
const fewestSlow = 10;
/** A driver has at least this part of the slow requests, and is slow so many times as often. */
const leastShare = 0.2;
const leastLift = 2;
/** What was as lopsided before explains nothing. */
const leastRise = 1.5;
/** More requests with the value explain at least this part of a rise, which is at least half of what is usual. */
const leastExplained = 0.5;
const leastExcess = 0.5;

/**
 * Which values of facets carry a tail: those that slow requests have far more often than the others,
 * and more so than usual; and those that are as slow as ever, but that so many more requests have (a cache that is
 * lost: all are misses). What tells most first. Values of one facet exclude each other; facets overlap, so
 * several may tell of one cause.
 */
export function driversOf(counts: readonly DriverCount[]): Driver[] {
  const byFacet = new Map<string, DriverCount[]>();
  for (const count of counts) {
    byFacet.set(count.facet, [...(byFacet.get(count.facet) ?? []), count]);
  }
  const found: { readonly driver: Driver; readonly weight: number }[] = [];
  for (const values of byFacet.values()) {
    const sum = (of: (count: DriverCount) => number) =>
      values.reduce((total, count) => total + of(count), 0);
    const requests = sum((count) => count.requests);
    const slow = sum((count) => count.slow);
    const baselineRequests = sum((count) => count.baselineRequests);
    const baselineSlow = sum((count) => count.baselineSlow);
    if (slow < fewestSlow) continue;
    const baselineRate = rateOf(baselineSlow, baselineRequests);
    const excess = slow / requests - baselineRate;
    const isRise = baselineRequests > 0 && excess >= leastExcess * baselineRate;
    for (const count of values) {
      const driver: Driver = {
        facet: count.facet,
        value: count.value,
        share_of_slow: count.slow / slow,
        share_of_all: count.requests / requests,
        baseline_share_of_all: rateOf(count.baselineRequests, baselineRequests),
        slow_rate: rateOf(count.slow, count.requests),
        slow_rate_of_others: rateOf(slow - count.slow, requests - count.requests),
        baseline_slow_rate: rateOf(count.baselineSlow, count.baselineRequests),
        baseline_slow_rate_of_others: rateOf(
          baselineSlow - count.baselineSlow,
          baselineRequests - count.baselineRequests,
        ),
      };
      const { share_of_slow, share_of_all, baseline_share_of_all, baseline_slow_rate } = driver;
      // What the rise would be if only this had changed (Kitagawa 1955).
      const more = (share_of_all - baseline_share_of_all) * (baseline_slow_rate - baselineRate);
      const explained = isRise ? Math.min(1, more / excess) : 0;
      const isMore = share_of_all > baseline_share_of_all && explained >= leastExplained;
      if (isMore || (count.requests < requests && isLopsided(driver))) {
        found.push({
          driver,
          weight: Math.max(share_of_slow - share_of_all, isMore ? explained : 0),
        });
      }
    }
  }
  return found.sort((a, b) => b.weight - a.weight).map(({ driver }) => driver);
}

function isLopsided(driver: Driver): boolean {
  const { share_of_slow, slow_rate, slow_rate_of_others } = driver;
  if (share_of_slow < leastShare || slow_rate < leastLift * slow_rate_of_others) return false;
  // Nothing is said of before where none of the others was slow then.
  const baseline = driver.baseline_slow_rate / driver.baseline_slow_rate_of_others;
  return !Number.isFinite(baseline) || slow_rate >= leastRise * baseline * slow_rate_of_others;
}

function rateOf(slow: number, requests: number): number {
  return requests > 0 ? slow / requests : 0;
}
