import { dimensions } from '../base/dimensions.ts';
import type { Series } from './series-window.ts';

/** A text that the series of two versions of a model share if every other dimension is equal. */
export function unversionedKey(series: Series): string {
  return seriesKey({ ...series, version: '' });
}

/** A text that two series share only if every dimension is equal. */
export function seriesKey(series: Series): string {
  return JSON.stringify(dimensions.map((dimension) => series[dimension]));
}

/** The series of a `seriesKey`. */
export function seriesOfKey(key: string): Series {
  const values = JSON.parse(key) as (string | boolean)[];
  return Object.fromEntries(dimensions.map((name, i) => [name, values[i]])) as unknown as Series;
}

/** The dimensions alone of what has them and more. */
export function seriesOf(given: Series): Series {
  const { service, model, version, request_type, region, host, tenant, cold_start } = given;
  return { service, model, version, request_type, region, host, tenant, cold_start };
}
