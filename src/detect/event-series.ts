import type { Series } from '../baseline/series-window.ts';
import type { AnomalyEvent } from './anomaly-event.ts';

/** The series that an event is of. */
export function eventSeries(event: AnomalyEvent): Series {
  const { service, model, version, request_type, region, host, tenant, cold_start } = event;
  return { service, model, version, request_type, region, host, tenant, cold_start };
}
