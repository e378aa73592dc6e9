const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);
/** Of the 23 bits of a Float32's mantissa. */
const DROPPED_BITS = 13;

/**
 * Rounds milliseconds >= 0 to 11 significant bits, within 0.05 %; whole numbers up to 2,048 are exact.
 * What is stored has few digits, as nothing compresses the others: they took two fifths of a digest.
 */
export function shortMs(ms: number): number {
  float[0] = ms;
  const word = bits[0] as number;
  bits[0] = ((word + (1 << (DROPPED_BITS - 1))) >>> DROPPED_BITS) << DROPPED_BITS;
  return float[0] as number;
}
