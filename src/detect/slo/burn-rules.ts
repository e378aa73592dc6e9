import { dayMs, hourMs, minuteMs } from '../../base/time.ts';

/** Spans over which the burn rate is measured. */
export const burnSpansMs = [5 * minuteMs, 30 * minuteMs, hourMs, 6 * hourMs, 3 * dayMs] as const;

export interface Objective {
  readonly name: string;
  /** Requests that take longer, or fail, are bad. */
  readonly thresholdMs: number;
  /** Target share of good requests. */
  readonly objective: number;
}

/** A rule fires when the burn rate reaches `factor` over both spans, which are given by index. */
export interface BurnRule {
  readonly factor: number;
  readonly long: number;
  readonly short: number;
  readonly severity: 'critical' | 'warning';
}

/**
 * Rules for a persisting burn of a 30-day budget: 2 % in an hour, 5 % in six hours, 10 % in three days.
 * Source: The Site Reliability Workbook, "Alerting on SLOs", 2018.
 */
export const burnRules: readonly BurnRule[] = [
  { factor: 14.4, long: 2, short: 0, severity: 'critical' },
  { factor: 6, long: 3, short: 1, severity: 'critical' },
  { factor: 1, long: 4, short: 3, severity: 'warning' },
];
