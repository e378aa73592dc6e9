import type { AnomalyEvent, Rate } from '../../detect/event/anomaly-event.ts';
import { formatPerSecond, formatShare } from '../../detect/event/format.ts';
import type { CoursePoint } from '../../sink/anomalies/explanation.ts';
import { durationText } from './duration-text.ts';
import { clock, count, odds } from './explanation-text.ts';
import { formatMs } from './format-ms.ts';
import { visible } from './visible.ts';

/** What the line of bars is of. */
export function courseTitle({ rate, quantile, evidence }: AnomalyEvent): string {
  if (rate?.unit === 'failures per request') return 'How many of the requests failed';
  if (rate?.unit === 'cold starts per request') return 'How many of the requests were cold starts';
  if (rate?.unit === 'requests per second') return 'How many requests there were';
  return `How p${Number((quantile * 100).toPrecision(6))} of ${evidence.measured_stage} went`;
}

/** What a bar stands for, in the unit of the event. */
export function courseValue(point: CoursePoint, { rate }: AnomalyEvent): number {
  const { requests, failed, cold_starts } = point;
  if (rate?.unit === 'failures per request') return failed / Math.max(1, requests);
  if (rate?.unit === 'cold starts per request') return cold_starts / Math.max(1, requests);
  if (rate?.unit === 'requests per second') return requests / point.step_seconds;
  return point.quantile_ms;
}

export function courseText(value: number, { rate }: AnomalyEvent): string {
  const { unit } = rate ?? {};
  if (unit === 'failures per request' || unit === 'cold starts per request') {
    return formatShare(value);
  }
  return rate?.unit === 'requests per second' ? formatPerSecond(value) : formatMs(value);
}

/** What is usual of it. */
export function baselineText(event: AnomalyEvent): string {
  const isTail = event.rate === undefined || event.rate.unit === 'errors per request';
  return courseText(isTail ? event.baseline_ms : (event.rate?.baseline ?? 0), event);
}

/** How much of an objective's budget is used, and by which rule that is too much. */
function burnEvidenceLines(event: AnomalyEvent, rate: Rate): string[] {
  const { slo, evidence } = event;
  if (slo === undefined) return [];
  const [low, high] = rate.interval;
  const [long, short] = [durationText(slo.long_ms), durationText(slo.short_ms)];
  return [
    `the objective: ${formatShare(slo.objective)} of requests take at most ${formatMs(slo.threshold_ms)} and do not fail (${visible(slo.name)})`,
    `${count(evidence.exceedances)} of ${count(event.requests)} requests of ${long} were bad; ${count(evidence.expected)} may be`,
    `${formatShare(rate.observed)} (95 %: ${formatShare(low)} to ${formatShare(high)}), ${rate.ratio.toPrecision(2)} times what may be`,
    `it opens at ${slo.burn_rate} times, over ${long} and still over the last ${short}`,
  ];
}

/** Why it is believed that a rate is not as usual. */
export function rateEvidenceLines(event: AnomalyEvent, rate: Rate): string[] {
  if (rate.unit === 'errors per request') return burnEvidenceLines(event, rate);
  const { p_value, alpha, dispersion, windows, exceedances, expected, ...baseline } =
    event.evidence;
  const text = (value: number) => courseText(value, event);
  const [low, high] = rate.interval;
  const over = windows === 1 ? 'one window' : `${windows} windows`;
  const isFailures = rate.unit === 'failures per request';
  const [were, usually] = isFailures ? ['failed', 'do'] : ['were cold starts', 'are'];
  const seen =
    rate.unit === 'requests per second'
      ? `${count(exceedances)} requests in ${over}; usually there are ${count(expected)}`
      : `${count(exceedances)} of ${count(event.requests)} requests in ${over} ${were}; usually ${count(expected)} ${usually}`;
  return [
    seen,
    `odds of that on a usual day, at most: ${odds(p_value)}`,
    `odds at which an anomaly opens, by the page budget: ${odds(alpha)}`,
    `it varies ${dispersion.toPrecision(2)} times as much as by chance: that is allowed for`,
    `${text(rate.observed)} (95 %: ${text(low)} to ${text(high)}), usual are ${text(rate.baseline)}`,
    `usual is what ${count(baseline.baseline_windows)} windows were from ${clock(baseline.baseline_from)} to ${clock(baseline.baseline_to)}`,
  ];
}
