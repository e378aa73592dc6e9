import { highWord } from './high-word.ts';

/** Range of bands: 2^-20 ms and below to 2^32 ms and above. */
export const bandRange = { lowest: -80, highest: 127, count: 208 } as const;

const bandOfOneMs = 1023 * 4;

/**
 * Band of a duration >= 0 in milliseconds: four an octave, by the exponent and the top two mantissa bits.
 * Band 0 begins at 1 ms, band 4 at 2 ms; 0 ms is in band -80. Exact on every machine; `bands` columns in
 * ClickHouse have these keys.
 */
export function bandOf(ms: number): number {
  const band = (highWord(ms) >>> 18) - bandOfOneMs;
  if (band < bandRange.lowest) return bandRange.lowest;
  return Math.min(band, bandRange.highest);
}

/** Lower edge of a band in milliseconds: four bands an octave, of equal width within it. */
export function bandFromMs(band: number): number {
  const octave = Math.floor(band / 4);
  return 2 ** octave * (1 + (band - octave * 4) / 4);
}
