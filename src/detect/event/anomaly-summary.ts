import { totalStage } from '../../base/dimensions.ts';
import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import { splitOf } from '../../contract/blame-split.ts';
import { riseOf, wholeOf } from '../../contract/blame-text.ts';
import {
  formatMs,
  formatMsOf,
  formatRatio,
  quantileName,
  seriesLabel,
  wholePercent,
} from '../../contract/format.ts';
import { perUnit, stageLabel } from '../../contract/measure-unit.ts';
import { withHistory } from '../../contract/short-history.ts';
import type { Series } from '../../series/series-window.ts';

type Described = Series &
  Pick<AnomalyEvent, 'quantile' | 'observed_ms' | 'baseline_ms' | 'ratio' | 'blame' | 'evidence'>;

/**
 * "p99 of ranker (search, eu-west-1) is 412 ms, 3.4x its baseline of 121 ms; in the slowest 1 % features
 * rose by 253 ms, the mean by 291 ms". A series too young for its own baseline: "... 3.4x the baseline of
 * version 1 (121 ms)". With a short history it ends by that.
 */
export function anomalySummary(event: Described): string {
  const subject = anomalySubject(event);
  const per = perUnit(event.evidence.measured_stage);
  const now = `${formatMs(event.observed_ms)}${per}, ${formatRatio(event.ratio)}`;
  const summary = `${subject} is ${now} ${baselinePart(event)}${explainedPart(event)}`;
  return withHistory(summary, event.evidence);
}

/** The baseline as the summary names it; of a new series it is that of another version, host or region. */
function baselinePart({ observed_ms, baseline_ms, evidence }: Described): string {
  const baseline = formatMsOf(observed_ms, baseline_ms)(baseline_ms);
  const [first, ...others] = evidence.baseline_of ?? [];
  if (first === undefined) return `its baseline of ${baseline}`;
  const more = others.length > 0 ? ' and others' : '';
  return `the baseline of ${first.dimension} ${first.value}${more} (${baseline})`;
}

/**
 * "; in the slowest 1 % features rose by 294 ms, the mean by 254 ms", or nothing where what was measured
 * explains itself. Of a milestone: "; on average prefill rose by 394 ms, 96 % of the rise".
 */
export function explainedPart({
  blame,
  evidence,
  quantile,
}: Pick<Described, 'blame' | 'evidence' | 'quantile'>): string {
  const [first] = blame;
  if (first === undefined || first.stage === evidence.measured_stage) return '';
  const split = splitOf({ blame, evidence });
  if (split === 'milestone') {
    const share = wholePercent(first.share);
    return `; on average ${first.stage} rose by ${formatMs(first.excess_ms)}, ${share} of the rise`;
  }
  const of = wholeOf({ isDrift: split === 'day', quantile });
  return `; in the ${of} ${first.stage} rose by ${formatMs(first.excess_ms)}, the mean by ${formatMs(riseOf(blame))}`;
}

/**
 * "p99 of ranker (search, eu-west-1)", "p95 of features of ranker" or "p99 of TTFT (first_token) of llm".
 *
 * @param tail @default what the event has measured
 */
export function anomalySubject(
  event: Described,
  tail: Readonly<{ stage: string; quantile: number }> = {
    ...{ stage: event.evidence.measured_stage, quantile: event.quantile },
  },
): string {
  const stage = tail.stage === totalStage ? '' : `${stageLabel(tail.stage)} of `;
  return `${quantileName(tail.quantile)} of ${stage}${seriesLabel(event)}`;
}
