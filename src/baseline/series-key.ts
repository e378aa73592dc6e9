import { dimensions } from '../base/dimensions.ts';
import type { Series } from './series-window.ts';

/** A text that two series share only if every dimension is equal. */
export function seriesKey(series: Series): string {
  return JSON.stringify(dimensions.map((dimension) => series[dimension]));
}
