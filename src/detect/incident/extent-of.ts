import type { AnomalyEvent } from '../event/anomaly-event.ts';

/** How bad an anomaly is among those of its kind: how many times the usual it is, or of traffic the usual is of it. */
export function extentOf({ ratio, rate }: Pick<AnomalyEvent, 'ratio' | 'rate'>): number {
  if (rate === undefined) return ratio;
  if (rate.unit !== 'requests per second') return rate.ratio;
  return rate.ratio === 0 ? Number.MAX_VALUE : 1 / rate.ratio;
}
