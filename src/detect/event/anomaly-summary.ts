import { totalStage } from '../../base/dimensions.ts';
import type { Series } from '../../series/series-window.ts';
import type { AnomalyEvent } from './anomaly-event.ts';
import { seriesLabel } from './format.ts';

type Described = Series &
  Pick<AnomalyEvent, 'quantile' | 'observed_ms' | 'baseline_ms' | 'ratio' | 'blame' | 'evidence'>;

/**
 * "p99 of ranker (search, eu-west-1) is 412 ms, 3.4x its baseline of 121 ms; features explains 87 % of it".
 * A series too young for a baseline of its own: "... 3.4x the baseline of version 1 (121 ms)".
 */
export function anomalySummary(event: Described): string {
  const subject = anomalySubject(event);
  const now = `${formatMs(event.observed_ms)}, ${formatRatio(event.ratio)}`;
  return `${subject} is ${now} ${baselinePart(event)}${explainedPart(event)}`;
}

/** The baseline as the summary names it; of a new series it is that of another version, host or region. */
function baselinePart({ baseline_ms, evidence }: Described): string {
  const [first, ...others] = evidence.baseline_of ?? [];
  if (first === undefined) return `its baseline of ${formatMs(baseline_ms)}`;
  const more = others.length > 0 ? ' and others' : '';
  return `the baseline of ${first.dimension} ${first.value}${more} (${formatMs(baseline_ms)})`;
}

/** "; features explains 87 % of it", or nothing where what was measured explains itself. */
export function explainedPart({ blame, evidence }: Pick<Described, 'blame' | 'evidence'>): string {
  const [first] = blame;
  if (first === undefined || first.stage === evidence.measured_stage) return '';
  const part = first.share < 0.995 ? `${Math.round(first.share * 100)} %` : 'all';
  return `; ${first.stage} explains ${part} of it`;
}

/** "p99 of ranker (search, eu-west-1)" or "p95 of features of ranker". */
export function anomalySubject(event: Described): string {
  const measured = event.evidence.measured_stage;
  const stage = measured === totalStage ? '' : `${measured} of `;
  const percentile = Number((event.quantile * 100).toFixed(6));
  return `p${percentile} of ${stage}${seriesLabel(event)}`;
}

/** Three significant digits at most: "0.84 ms", "412 ms", "12.3 s". */
export function formatMs(ms: number): string {
  if (ms >= 10_000) return `${Number((ms / 1000).toPrecision(3))} s`;
  return ms >= 100 ? `${Math.round(ms)} ms` : `${Number(ms.toPrecision(2))} ms`;
}

/** "1.32x", "3.4x", "12x". */
export function formatRatio(ratio: number): string {
  return `${ratio >= 10 ? Math.round(ratio) : Number(ratio.toFixed(ratio < 2 ? 2 : 1))}x`;
}
