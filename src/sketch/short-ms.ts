const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);
/** Of the 24 of a Float32. */
const FLOAT_BITS = 24;
/** Significant bits of a digest's centroid, a bfloat16: within 0.4 %; whole milliseconds up to 256 are exact. */
export const digestBits = 8;
/** Significant bits of a band's sum, as bands are added up: within 0.05 %. */
export const bandBits = 11;

/**
 * Rounds milliseconds >= 0 to some significant bits: within 2^-bits of the value, and whole numbers up to
 * 2^bits are exact. Stored values have few digits, as nothing compresses the others: with eleven bits, not
 * eight, a digest takes a third more.
 */
export function shortMs(ms: number, significantBits: number): number {
  float[0] = ms;
  const word = bits[0] as number;
  const dropped = FLOAT_BITS - significantBits;
  bits[0] = ((word + (1 << (dropped - 1))) >>> dropped) << dropped;
  return float[0] as number;
}
