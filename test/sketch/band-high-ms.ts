import { bandRange } from '../../src/sketch/band.ts';
import { bandLowMs } from './band-low-ms.ts';

/** Upper bound of a band in milliseconds, exclusive. The highest band has none: Infinity. */
export function bandHighMs(band: number): number {
  if (band >= bandRange.highest) return Number.POSITIVE_INFINITY;
  return bandLowMs(Math.max(band, bandRange.lowest) + 1);
}
