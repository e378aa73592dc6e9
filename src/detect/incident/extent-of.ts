import type { AnomalyEvent } from '../event/anomaly-event.ts';

/** Size of an anomaly, to compare it with others of its kind: the ratio, or its inverse for traffic. */
export function extentOf({ ratio, rate }: Pick<AnomalyEvent, 'ratio' | 'rate'>): number {
  if (rate === undefined) return ratio;
  if (rate.unit !== 'requests per second') return rate.ratio;
  return rate.ratio === 0 ? Number.MAX_VALUE : 1 / rate.ratio;
}
