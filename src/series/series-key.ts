import { dimensions } from '../base/dimensions.ts';
import type { Series } from './series-window.ts';

/** Key of a series without its version: equal for two versions of a model if all other dimensions are. */
export function unversionedKey(series: Series): string {
  return seriesKey({ ...series, version: '' });
}

/** Key of a series: equal for two series only if every dimension is. */
export function seriesKey(series: Series): string {
  return JSON.stringify(dimensions.map((dimension) => series[dimension]));
}

/** Series of a key. */
export function seriesOfKey(key: string): Series {
  const values = JSON.parse(key) as (string | boolean)[];
  return Object.fromEntries(dimensions.map((name, i) => [name, values[i]])) as unknown as Series;
}

/** Copies the dimensions of a value that has more fields. */
export function seriesOf(source: Series): Series {
  const { service, model, version, request_type, region, host, tenant, cold_start } = source;
  return { service, model, version, request_type, region, host, tenant, cold_start };
}
