/** First and last second that RFC 3339 can write: of the years 1 and 9999. */
const firstSecond = -62_135_596_800;
const lastSecond = 253_402_300_799;

/**
 * RFC 3339 text in UTC, such as `2026-11-25T12:00:00.123Z`; undefined beyond the years 1 to 9999.
 *
 * @param seconds since 1970.
 * @param fraction of the second, from 0, in units of 10^−digits seconds.
 */
export function dateTimeText(
  seconds: number,
  fraction: number,
  digits: 3 | 6 | 9,
): string | undefined {
  if (!(seconds >= firstSecond && seconds <= lastSecond)) return undefined;
  if (!(fraction >= 0 && fraction < 10 ** digits)) return undefined;
  const date = new Date(seconds * 1_000).toISOString().slice(0, 19);
  return `${date}.${String(fraction).padStart(digits, '0')}Z`;
}
