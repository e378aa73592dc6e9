import type { AnomalyEvent } from './anomaly-event.ts';
import { formatMs, formatPerSecond, formatRatio, formatShare } from './format.ts';

type Measured = Pick<AnomalyEvent, 'observed_ms' | 'ratio' | 'rate' | 'peak' | 'measured_at'>;

/** "512 ms, 2.1x", "4.8 %, 24x", "12/s": the size of an anomaly, of a rate by its unit. */
export function sizeText({ observed_ms, ratio, rate }: Omit<Measured, 'peak'>): string {
  if (rate === undefined) return `${formatMs(observed_ms)}, ${formatRatio(ratio)}`;
  if (rate.unit === 'requests per second') return formatPerSecond(rate.observed);
  return `${formatShare(rate.observed)}, ${formatRatio(rate.ratio)}`;
}

/** The same at its worst; as it is, where an older event does not say how bad it has been. */
export function peakText(event: Measured): string {
  const { rate, peak } = event;
  if (peak === undefined) return sizeText(event);
  const { observed_ms, ratio, rate: observed } = peak;
  if (rate === undefined || observed === undefined) return sizeText({ observed_ms, ratio });
  const times = rate.baseline > 0 ? observed / rate.baseline : 0;
  return sizeText({ observed_ms, ratio, rate: { ...rate, observed, ratio: times } });
}

/** Reports whether it has been worse than it is. */
export function hasBeenWorse({ peak, measured_at }: Measured): boolean {
  return peak !== undefined && peak.at !== measured_at;
}
