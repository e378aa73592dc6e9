import type { AnomalyEvent, Rate } from '../../detect/event/anomaly-event.ts';
import {
  durationText,
  formatCount,
  formatExactShare,
  formatMs,
  formatPerSecond,
  formatRatio,
  formatShare,
  quantileName,
} from '../../detect/event/format.ts';
import type { TimelinePoint } from '../../sink/anomalies/explanation.ts';
import { clock, odds, visible } from './format.ts';

interface Measure {
  readonly title: string;
  /** Value of a point, in the unit of the event. */
  readonly measure: (point: TimelinePoint) => number;
  readonly format: (value: number) => string;
}

/** Measures of rates by their unit. Events of other units and of none are about a quantile. */
const measures: Readonly<Partial<Record<Rate['unit'], Measure>>> = {
  'failures per request': {
    title: 'failed requests',
    measure: ({ failed, requests }) => failed / Math.max(1, requests),
    format: formatShare,
  },
  'cold starts per request': {
    title: 'cold starts',
    measure: ({ cold_starts, requests }) => cold_starts / Math.max(1, requests),
    format: formatShare,
  },
  'requests per second': {
    title: 'traffic',
    measure: ({ requests, step_seconds }) => requests / step_seconds,
    format: formatPerSecond,
  },
};

/** Measure that the timeline of an event shows. */
export function measureOf({ rate, quantile, evidence }: AnomalyEvent): Measure {
  const title = `${quantileName(quantile)} of ${evidence.measured_stage}`;
  const tail = { title, measure: (point: TimelinePoint) => point.quantile_ms, format: formatMs };
  return (rate && measures[rate.unit]) ?? tail;
}

export function baselineText(event: AnomalyEvent): string {
  const isTail = event.rate === undefined || event.rate.unit === 'errors per request';
  return measureOf(event).format(isTail ? event.baseline_ms : (event.rate?.baseline ?? 0));
}

/** Lists how much of an objective's budget is spent, and the rule that is broken. */
function burnEvidenceLines(event: AnomalyEvent, rate: Rate): string[] {
  const { slo, evidence } = event;
  if (slo === undefined) return [];
  const [low, high] = rate.interval;
  const [long, short] = [durationText(slo.long_ms), durationText(slo.short_ms)];
  return [
    `objective: ${formatExactShare(slo.objective)} of requests take at most ${formatMs(slo.threshold_ms)} and do not fail (${visible(slo.name)})`,
    `${formatCount(evidence.exceedances)} of ${formatCount(event.requests)} requests in ${long} were bad (allowed: ${formatCount(evidence.expected)})`,
    `bad requests: ${formatShare(rate.observed)} (95 % interval ${formatShare(low)} to ${formatShare(high)}), ${formatRatio(rate.ratio)} the allowed share`,
    `threshold: ${slo.burn_rate}x, over ${long} and over the last ${short}`,
  ];
}

export function rateEvidenceLines(event: AnomalyEvent, rate: Rate): string[] {
  if (rate.unit === 'errors per request') return burnEvidenceLines(event, rate);
  const { p_value, alpha, dispersion, windows, exceedances, expected, ...baseline } =
    event.evidence;
  const text = measureOf(event).format;
  const [low, high] = rate.interval;
  const over = windows === 1 ? 'one window' : `${windows} windows`;
  const isFailures = rate.unit === 'failures per request';
  const were = isFailures ? 'failed' : 'were cold starts';
  const seen =
    rate.unit === 'requests per second'
      ? `${formatCount(exceedances)} requests in ${over} (expected: ${formatCount(expected)})`
      : `${formatCount(exceedances)} of ${formatCount(event.requests)} requests in ${over} ${were} (expected: ${formatCount(expected)})`;
  return [
    seen,
    `probability on a normal day: at most ${odds(p_value)}`,
    `threshold from the page budget: ${odds(alpha)}`,
    `dispersion: ${dispersion.toPrecision(2)}x the variance expected by chance (the probability allows for it)`,
    `rate: ${text(rate.observed)} (95 % interval ${text(low)} to ${text(high)}), baseline ${text(rate.baseline)}`,
    `baseline: ${formatCount(baseline.baseline_windows)} windows from ${clock(baseline.baseline_from)} to ${clock(baseline.baseline_to)}`,
  ];
}
