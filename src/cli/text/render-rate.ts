import type { AnomalyEvent, Rate } from '../../detect/event/anomaly-event.ts';
import { durationText, formatPerSecond, formatShare } from '../../detect/event/format.ts';
import type { TimelinePoint } from '../../sink/anomalies/explanation.ts';
import { clock, count, odds, quantileName } from './explanation-text.ts';
import { formatMs } from './format-ms.ts';
import { visible } from './visible.ts';

/** Title of the line of bars. */
export function timelineTitle({ rate, quantile, evidence }: AnomalyEvent): string {
  if (rate?.unit === 'failures per request') return 'Timeline of failed requests';
  if (rate?.unit === 'cold starts per request') return 'Timeline of cold starts';
  if (rate?.unit === 'requests per second') return 'Timeline of traffic';
  return `Timeline of ${quantileName(quantile)} of ${evidence.measured_stage}`;
}

/** Value of a bar, in the unit of the event. */
export function timelineValue(point: TimelinePoint, { rate }: AnomalyEvent): number {
  const { requests, failed, cold_starts } = point;
  if (rate?.unit === 'failures per request') return failed / Math.max(1, requests);
  if (rate?.unit === 'cold starts per request') return cold_starts / Math.max(1, requests);
  if (rate?.unit === 'requests per second') return requests / point.step_seconds;
  return point.quantile_ms;
}

export function timelineText(value: number, { rate }: AnomalyEvent): string {
  const { unit } = rate ?? {};
  if (unit === 'failures per request' || unit === 'cold starts per request') {
    return formatShare(value);
  }
  return rate?.unit === 'requests per second' ? formatPerSecond(value) : formatMs(value);
}

/** Its baseline. */
export function baselineText(event: AnomalyEvent): string {
  const isTail = event.rate === undefined || event.rate.unit === 'errors per request';
  return timelineText(isTail ? event.baseline_ms : (event.rate?.baseline ?? 0), event);
}

/** Lists how much of an objective's budget is spent, and the rule that is broken. */
function burnEvidenceLines(event: AnomalyEvent, rate: Rate): string[] {
  const { slo, evidence } = event;
  if (slo === undefined) return [];
  const [low, high] = rate.interval;
  const [long, short] = [durationText(slo.long_ms), durationText(slo.short_ms)];
  return [
    `objective: ${formatShare(slo.objective)} of requests take at most ${formatMs(slo.threshold_ms)} and do not fail (${visible(slo.name)})`,
    `${count(evidence.exceedances)} of ${count(event.requests)} requests in ${long} were bad (allowed: ${count(evidence.expected)})`,
    `bad requests: ${formatShare(rate.observed)} (95 % interval ${formatShare(low)} to ${formatShare(high)}), ${rate.ratio.toPrecision(2)}x the allowed share`,
    `threshold: ${slo.burn_rate}x, over ${long} and over the last ${short}`,
  ];
}

/** Evidence that a rate has left its baseline. */
export function rateEvidenceLines(event: AnomalyEvent, rate: Rate): string[] {
  if (rate.unit === 'errors per request') return burnEvidenceLines(event, rate);
  const { p_value, alpha, dispersion, windows, exceedances, expected, ...baseline } =
    event.evidence;
  const text = (value: number) => timelineText(value, event);
  const [low, high] = rate.interval;
  const over = windows === 1 ? 'one window' : `${windows} windows`;
  const isFailures = rate.unit === 'failures per request';
  const were = isFailures ? 'failed' : 'were cold starts';
  const seen =
    rate.unit === 'requests per second'
      ? `${count(exceedances)} requests in ${over} (expected: ${count(expected)})`
      : `${count(exceedances)} of ${count(event.requests)} requests in ${over} ${were} (expected: ${count(expected)})`;
  return [
    seen,
    `probability on a normal day: at most ${odds(p_value)}`,
    `threshold from the page budget: ${odds(alpha)}`,
    `dispersion: ${dispersion.toPrecision(2)}x the variance expected by chance (included above)`,
    `rate: ${text(rate.observed)} (95 % interval ${text(low)} to ${text(high)}), baseline ${text(rate.baseline)}`,
    `baseline: ${count(baseline.baseline_windows)} windows from ${clock(baseline.baseline_from)} to ${clock(baseline.baseline_to)}`,
  ];
}
