/** Hexadecimal digits of half of a trace id. */
const HALF_DIGITS = 16;
const noHalf = '0'.repeat(HALF_DIGITS);

/**
 * Returns the last 16 digits of a trace id. While services move from ids of 16 digits to ids of 32, an older
 * one keeps these of the id that it is given. So spans of one trace have ids of both lengths.
 *
 * @param id lower-case hexadecimal digits, with or without leading zeros.
 */
export function lowHalfOf(id: string): string {
  return id.length >= HALF_DIGITS ? id.slice(-HALF_DIGITS) : id.padStart(HALF_DIGITS, '0');
}

/** Returns the digits before those; '' where there are none, or zeros only. */
export function highHalfOf(id: string): string {
  if (id.length <= HALF_DIGITS) return '';
  const high = id.slice(0, -HALF_DIGITS).padStart(HALF_DIGITS, '0');
  return high === noHalf ? '' : high;
}

/** Returns the halves of an id of up to 16 hexadecimal digits; of a longer one, of its end. */
export function idHalves(text: string): { readonly high: number; readonly low: number } {
  const half = (from: number, to?: number) => Number.parseInt(text.slice(from, to) || '0', 16) | 0;
  return { high: half(-16, -8), low: half(-8) };
}
