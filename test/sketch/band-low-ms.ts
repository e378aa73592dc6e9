import { bandRange } from '../../src/sketch/band.ts';

/** Lower bound of a band in milliseconds, inclusive. The lowest band begins at 0. */
export function bandLowMs(band: number): number {
  return band <= bandRange.lowest ? 0 : 2 ** Math.floor(band / 4) * (1 + (band & 3) / 4);
}
