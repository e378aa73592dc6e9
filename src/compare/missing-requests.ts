import type { CompareOptions } from './compare-options.ts';
import type { VersionTest } from './version-test.ts';

/**
 * Growth of the evidence, in nats a minute: that which is expected before there is any, as if seen in so many
 * minutes, and the slowest that is extrapolated, some hours at most.
 */
const growth = { expected: 0.2, minutes: 1, least: 0.02 } as const;

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
    const mean = (log + growth.expected * growth.minutes) / (minutes + growth.minutes);
    return Math.max(0, logNeeded - log) / Math.min(Math.LN2, Math.max(growth.least, mean));
  };
  return Math.min(minutesTo(logWorse), minutesTo(logNoWorse));
}
