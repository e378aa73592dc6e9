import type { AnomalyEvent } from '../../contract/anomaly-event.ts';

export type Peak = NonNullable<AnomalyEvent['peak']>;

type Measured = Pick<AnomalyEvent, 'observed_ms' | 'ratio' | 'rate' | 'measured_at'>;

/** The size of an anomaly as of its measurement; undefined where an older event does not say of when it is. */
export function sizeOf({ observed_ms, ratio, rate, measured_at }: Measured): Peak | undefined {
  if (measured_at === undefined) return undefined;
  return { observed_ms, ratio, ...(rate && { rate: rate.observed }), at: measured_at };
}

/** The worse of two sizes of one anomaly, the earlier of equals. Of traffic less is worse. */
export function worseOf(
  a: Peak,
  b: Peak,
  unit: NonNullable<AnomalyEvent['rate']>['unit'] | undefined,
) {
  if (a.rate === undefined || b.rate === undefined) return b.ratio > a.ratio ? b : a;
  const isWorse = unit === 'requests per second' ? b.rate < a.rate : b.rate > a.rate;
  return isWorse ? b : a;
}

export function peakField(peak: Peak | undefined): Pick<AnomalyEvent, 'peak'> {
  return peak === undefined ? {} : { peak };
}
