import type { CompareOptions } from './compare-options.ts';
import type { VersionTest } from './version-test.ts';

/** Slowest growth of the evidence that is extrapolated, in nats a minute: some hours at most. */
const leastGrowth = 0.02;

/**
 * Requests of the candidate until there is a verdict, about: as many minutes as the evidence takes at its
 * growth so far, of as many requests as so far. Never fewer than a verdict can take at all: a minute at most
 * doubles the evidence. At least 1.
 */
export function missingRequests(test: VersionTest, options: CompareOptions): number {
  const { candidate, baseline, minutes } = test;
  const lacking = Math.max(
    options.minRequests - candidate.requests,
    minutes === 0 ? 0 : missingOf(baseline.requests, candidate.requests, options.minRequests),
  );
  if (minutes === 0) return Math.max(1, lacking);
  const perMinute = candidate.requests / minutes;
  const missing = Math.max(perMinute * missingMinutes(test), lacking);
  return Math.max(1, Math.ceil(missing));
}

/** Requests of the candidate until the baseline has enough, at their ratio so far. */
function missingOf(baseline: number, candidate: number, least: number): number {
  return baseline === 0 ? least : ((least - baseline) * candidate) / baseline;
}

function missingMinutes({ logNeeded, logWorse, logNoWorse, minutes }: VersionTest): number {
  const minutesTo = (log: number) => {
    const growth = Math.min(Math.LN2, Math.max(leastGrowth, log / minutes));
    return Math.max(0, logNeeded - log) / growth;
  };
  return Math.min(minutesTo(logWorse), minutesTo(logNoWorse));
}
