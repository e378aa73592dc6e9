import type { Severity } from './anomaly-event.ts';

/** All severities, the least severe first. */
export const severities: readonly Severity[] = ['info', 'warning', 'critical'];

export interface SeverityInput {
  /** True if the request's total is slower, not only one of its stages. */
  readonly totalMoved: boolean;
  readonly ratio: number;
  /** Share of all requests of all series that is slower than in the baseline. */
  readonly affectedShare: number;
}

/**
 * Severity of a slow tail or of a proportion; other kinds set their own. `critical`: the total's tail is at least twice the baseline and affects 5 % of
 * all traffic, or five times and 1 %. All others are a `warning`.
 */
export function severity({ totalMoved, ratio, affectedShare }: SeverityInput): Severity {
  if (!totalMoved) return 'warning';
  const wide = ratio >= 2 && affectedShare >= 0.05;
  const deep = ratio >= 5 && affectedShare >= 0.01;
  return wide || deep ? 'critical' : 'warning';
}
