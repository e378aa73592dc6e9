const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Spans over which the budget's use is looked at. */
export const burnSpansMs = [5 * minuteMs, 30 * minuteMs, hourMs, 6 * hourMs, 3 * dayMs] as const;

/** What is promised of a model's requests. */
export interface Objective {
  readonly name: string;
  /** A request is bad that takes longer, or fails. */
  readonly thresholdMs: number;
  /** The part of requests that are good. */
  readonly objective: number;
}

/** A rule: over both spans, by their index, the budget is used so many times as fast as it lasts. */
export interface BurnRule {
  readonly factor: number;
  readonly long: number;
  readonly short: number;
  readonly severity: 'critical' | 'warning';
}

/**
 * When a budget of 30 days is used so fast that somebody must know: 2 % of it in an hour, 5 % in six
 * hours, 10 % in three days; and it still goes on. (The Site Reliability Workbook, "Alerting on SLOs",
 * 2018.)
 */
export const burnRules: readonly BurnRule[] = [
  { factor: 14.4, long: 2, short: 0, severity: 'critical' },
  { factor: 6, long: 3, short: 1, severity: 'critical' },
  { factor: 1, long: 4, short: 3, severity: 'warning' },
];
