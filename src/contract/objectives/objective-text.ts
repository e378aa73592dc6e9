import { totalStage } from '../../base/dimensions.ts';
import type { Thresholds } from '../../config/slos.ts';
import type { AnomalyEvent } from '../anomaly-event.ts';
import { formatCount, formatExactShare, formatMs, formatShare } from '../format.ts';

/** "200 ms", "queue 200 ms", "first_token 500 ms, total 10 s": what a good request takes at most. */
export function thresholdsText(thresholds: Thresholds): string {
  const all = Object.entries(thresholds);
  return all
    .map(([stage, ms]) =>
      all.length === 1 && stage === totalStage ? formatMs(ms) : `${stage} ${formatMs(ms)}`,
    )
    .join(', ');
}

/** "exceeded 200 ms or failed", "missed one of first_token 500 ms, total 10 s, or failed": of bad requests. */
export function missedText(thresholds: Thresholds): string {
  const [only, ...others] = Object.entries(thresholds);
  if (only === undefined || others.length > 0) {
    return `missed one of ${thresholdsText(thresholds)}, or failed`;
  }
  const [stage, ms] = only;
  return `exceeded ${formatMs(ms)}${stage === totalStage ? '' : ` in ${stage}`} or failed`;
}

/** Requests for which a joint objective was counted. */
export interface Goodput {
  readonly requests: number;
  readonly missed: number;
}

/**
 * "Goodput 97.3 %: of 45,000 requests 1,204 missed one of first_token 500 ms, total 10 s, or failed (objective
 * 99 %)".
 */
export function goodputText(
  { requests, missed }: Goodput,
  { thresholds, objective }: { readonly thresholds: Thresholds; readonly objective: number },
): string {
  const target = formatExactShare(objective);
  if (requests === 0) return `Goodput: no request of the range is counted (objective ${target})`;
  const share = formatShare((requests - missed) / requests);
  const counts = `of ${formatCount(requests)} requests ${formatCount(missed)}`;
  return `Goodput ${share}: ${counts} ${missedText(thresholds)} (objective ${target})`;
}

/** "97.3 % of 45,000 requests"; of one side of a comparison. */
export function goodputOfSide({ requests, missed }: Goodput): string {
  if (requests === 0) return 'no request counted';
  return `${formatShare((requests - missed) / requests)} of ${formatCount(requests)} requests`;
}

/** Thresholds of the objective of an event. */
export function thresholdsOfEvent({
  stage = totalStage,
  threshold_ms = 0,
  all,
}: Pick<NonNullable<AnomalyEvent['slo']>, 'stage' | 'threshold_ms' | 'all'>): Thresholds {
  return all ?? { [stage]: threshold_ms };
}
