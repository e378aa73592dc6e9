import type { AnomalyEvent } from '../event/anomaly-event.ts';
import type { FoundDrivers } from './found-drivers.ts';

/** Drivers that an event names. */
const driversNamed = 5;
/** Share from which the mix is the bottleneck, as for other classes. */
const mostShare = 0.5;

/**
 * Adds its drivers to an event. If more large requests explain at least half of it, the bottleneck is
 * `traffic_mix`, whatever the stages: requests of each size take as long as before.
 */
export function withDrivers(event: AnomalyEvent, { drivers, mix }: FoundDrivers): AnomalyEvent {
  const found =
    drivers.length === 0 ? event : { ...event, drivers: drivers.slice(0, driversNamed) };
  if (mix === undefined) return found;
  const shared = { ...found, mix_share: mix.share };
  if (mix.share < mostShare || event.cold_start) return shared;
  const bottleneck = 'traffic_mix';
  if (event.state === 'resolved') return { ...shared, bottleneck };
  const part = Math.round(mix.share * 100);
  const summary = `${event.summary}; more large requests (by ${mix.facet}) explain ${part} % of it`;
  return { ...shared, bottleneck, summary };
}
