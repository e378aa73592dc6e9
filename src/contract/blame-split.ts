import { totalStage } from '../base/dimensions.ts';
import type { AnomalyEvent } from './anomaly-event.ts';

/**
 * What the blame splits: the rise of the `slowest` requests or of the `requests` of a day, that of a `milestone`
 * over the parts before it, or none: the measured stage is blamed for the rise of its own `quantile`.
 */
export function splitOf({
  blame,
  evidence,
}: Pick<AnomalyEvent, 'blame' | 'evidence'>): 'slowest' | 'day' | 'milestone' | 'quantile' {
  const { measured_stage: measured, test } = evidence;
  if (test === 'hourly_ratios') return 'day';
  const isOwn = blame.some(({ stage }) => stage === measured);
  if (measured === totalStage) return 'slowest';
  if (!isOwn) return 'milestone';
  // Earlier versions split the slowest requests where a part was measured.
  return blame.length === 1 ? 'quantile' : 'slowest';
}
