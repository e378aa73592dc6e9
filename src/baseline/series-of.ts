import type { Series } from './series-window.ts';

/** The dimensions alone of what has them and more. */
export function seriesOf(given: Series): Series {
  const { service, model, version, request_type, region, host, tenant, cold_start } = given;
  return { service, model, version, request_type, region, host, tenant, cold_start };
}
