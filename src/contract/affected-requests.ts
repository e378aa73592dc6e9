import type { AnomalyEvent } from './anomaly-event.ts';

type Counted = Pick<AnomalyEvent, 'kind' | 'requests' | 'evidence'>;

/**
 * Requests of a window that an anomaly affects: those beyond what was expected, and of traffic those that
 * are missing. A mean over the tested windows: a rare series is tested over more of them, and counts by its
 * traffic. The hours of a drift say nothing about requests: all of them are slower.
 */
export function affectedPerWindow({ kind, requests, evidence }: Counted): number {
  const { exceedances, expected, windows } = evidence;
  if (kind === 'drift') return requests / windows;
  return Math.abs(exceedances - expected) / windows;
}
