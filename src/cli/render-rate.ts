import type { AnomalyEvent, Rate } from '../detect/anomaly-event.ts';
import { formatPerSecond } from '../detect/format-per-second.ts';
import { formatShare } from '../detect/format-share.ts';
import type { CoursePoint } from '../watch/explanation.ts';
import { clock, count, odds } from './explanation-text.ts';
import { formatMs } from './format-ms.ts';

/** What the line of bars is of. */
export function courseTitle({ rate, quantile, evidence }: AnomalyEvent): string {
  if (rate?.unit === 'failures per request') return 'How many of the requests failed';
  if (rate?.unit === 'requests per second') return 'How many requests there were';
  return `How p${Number((quantile * 100).toPrecision(6))} of ${evidence.measured_stage} went`;
}

/** What a bar stands for, in the unit of the event. */
export function courseValue(point: CoursePoint, { rate }: AnomalyEvent): number {
  if (rate?.unit === 'failures per request') return point.failed / Math.max(1, point.requests);
  if (rate?.unit === 'requests per second') return point.requests / point.step_seconds;
  return point.quantile_ms;
}

export function courseText(value: number, { rate }: AnomalyEvent): string {
  if (rate?.unit === 'failures per request') return formatShare(value);
  return rate?.unit === 'requests per second' ? formatPerSecond(value) : formatMs(value);
}

/** Why it is believed that a rate is not as usual. */
export function rateEvidenceLines(event: AnomalyEvent, rate: Rate): string[] {
  const { p_value, alpha, dispersion, windows, exceedances, expected, ...usual } = event.evidence;
  const text = (value: number) => courseText(value, event);
  const [low, high] = rate.interval;
  const over = windows === 1 ? 'one window' : `${windows} windows`;
  const seen =
    rate.unit === 'requests per second'
      ? `${count(exceedances)} requests in ${over}; usually there are ${count(expected)}`
      : `${count(exceedances)} of ${count(event.requests)} requests in ${over} failed; usually ${count(expected)} do`;
  return [
    seen,
    `odds of that on a usual day, at most: ${odds(p_value)}`,
    `odds at which an anomaly opens, by the page budget: ${odds(alpha)}`,
    `it varies ${dispersion.toPrecision(2)} times as much as by chance: that is allowed for`,
    `${text(rate.observed)} (95 %: ${text(low)} to ${text(high)}), usual are ${text(rate.baseline)}`,
    `usual is what ${count(usual.baseline_windows)} windows were from ${clock(usual.baseline_from)} to ${clock(usual.baseline_to)}`,
  ];
}
