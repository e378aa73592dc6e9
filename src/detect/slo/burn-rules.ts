import { dayMs, hourMs, minuteMs } from '../../base/time.ts';

/** Spans over which the burn rate is measured. */
export const burnSpansMs = [5 * minuteMs, 30 * minuteMs, hourMs, 6 * hourMs, 3 * dayMs] as const;

/** A rule fires when the burn rate reaches `factor` over both spans, which are given by index. */
export interface BurnRule {
  readonly factor: number;
  readonly long: number;
  readonly short: number;
  readonly severity: 'critical' | 'warning';
}

/** Parts of the budget that a rule allows its long span to spend. */
const spent = [
  { budget: 0.02, long: 2, short: 0, severity: 'critical' },
  { budget: 0.05, long: 3, short: 1, severity: 'critical' },
  { budget: 0.1, long: 4, short: 3, severity: 'warning' },
] as const;

/**
 * Rules for a persisting burn of the budget of a period: 2 % in an hour, 5 % in six hours, 10 % in three days.
 * At a burn rate of 1 the budget lasts for the period, so no rule fires below. Of 30 days the factors are
 * 14.4, 6 and 1; of 28 days 13.44, 5.6 and 1; of 7 days 3.36, 1.4 and 1.
 *
 * Source: The Site Reliability Workbook, "Alerting on SLOs", 2018.
 */
export function burnRulesOf(windowMs: number): readonly BurnRule[] {
  return spent.map(({ budget, ...rule }) => {
    const factor = (budget * windowMs) / burnSpansMs[rule.long];
    // Without the noise of binary fractions, as events have the factor.
    return { ...rule, factor: Math.max(1, Number(factor.toPrecision(6))) };
  });
}
