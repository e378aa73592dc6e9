import type { Severity } from './anomaly-event.ts';

export interface SeverityInput {
  /** Whether the request's total is slower, or only one of its stages. */
  readonly totalMoved: boolean;
  readonly ratio: number;
  /** Part of all requests of all series that is slower than it would usually be. */
  readonly affectedShare: number;
}

/**
 * `critical`: the total's tail has at least doubled and 5 % of all traffic is slow beyond the
 * usual, or it is five times the usual for 1 %. Everything else that opens is a `warning`, a slow
 * stage that the total does not show always.
 */
export function severity({ totalMoved, ratio, affectedShare }: SeverityInput): Severity {
  if (!totalMoved) return 'warning';
  const wide = ratio >= 2 && affectedShare >= 0.05;
  const deep = ratio >= 5 && affectedShare >= 0.01;
  return wide || deep ? 'critical' : 'warning';
}
