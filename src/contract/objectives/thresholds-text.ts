import { totalStage } from '../../base/dimensions.ts';
import type { Thresholds } from '../../config/slos.ts';
import type { AnomalyEvent } from '../anomaly-event.ts';
import { formatMs } from '../format.ts';

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

/** Thresholds of the objective of an event. */
export function thresholdsOfEvent({
  stage = totalStage,
  threshold_ms = 0,
  all,
}: Pick<NonNullable<AnomalyEvent['slo']>, 'stage' | 'threshold_ms' | 'all'>): Thresholds {
  return all ?? { [stage]: threshold_ms };
}
