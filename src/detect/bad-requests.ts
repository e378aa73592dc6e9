import type { StageSummary } from '../baseline/series-window.ts';

/**
 * How many requests took longer than a threshold, or failed. The digest says how many were slower, not
 * which: those that timed out are taken to be among the slow ones, those that ended in an error to be as
 * slow as the others.
 */
export function badRequests(whole: StageSummary, thresholdMs: number): number {
  const { requests, errors, timeouts, digest } = whole;
  if (requests === 0) return 0;
  const slow = requests * (1 - digest.cdf(thresholdMs));
  return Math.min(requests, Math.max(slow, timeouts) + errors * (1 - slow / requests));
}
