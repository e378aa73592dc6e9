const monthDays = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
/** Days before each month of a year that begins with March, so that a leap day comes last. */
const daysBefore = [306, 337, 0, 31, 61, 92, 122, 153, 184, 214, 245, 275];

/**
 * Milliseconds since the Unix epoch of the RFC 3339 date-time `bytes[start, end)`; NaN in doubt. Agrees with
 * `epochMsOf` where it is not NaN; makes no string.
 */
export function scanEpochMs(bytes: Uint8Array, start: number, end: number): number {
  // 2026-11-21T08:00:00Z: digits and separators have fixed positions up to the seconds.
  if (end - start < 20) return Number.NaN;
  if (bytes[start + 4] !== 0x2d || bytes[start + 7] !== 0x2d) return Number.NaN;
  if (bytes[start + 10] !== 0x54) return Number.NaN;
  if (bytes[start + 13] !== 0x3a || bytes[start + 16] !== 0x3a) return Number.NaN;
  const year = pair(bytes, start) * 100 + pair(bytes, start + 2);
  const month = pair(bytes, start + 5);
  const day = pair(bytes, start + 8);
  const hour = pair(bytes, start + 11);
  const minute = pair(bytes, start + 14);
  const second = pair(bytes, start + 17);
  if (!(hour <= 23 && minute <= 59 && second <= 60)) return Number.NaN;
  if (!(year >= 1 && month >= 1 && month <= 12 && day >= 1)) return Number.NaN;
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const lastDay = month === 2 && isLeap ? 29 : (monthDays[month - 1] as number);
  if (day > lastDay) return Number.NaN;

  let i = start + 19;
  let ms = 0;
  if (bytes[i] === 0x2e) {
    let unit = 100;
    const fraction = ++i;
    for (; i < end; i++) {
      const digit = (bytes[i] as number) ^ 0x30;
      if (digit > 9) break;
      ms += digit * unit;
      unit = unit === 100 ? 10 : unit === 10 ? 1 : 0;
    }
    if (i === fraction) return Number.NaN;
  }
  const aheadMinutes = offset(bytes, i, end);
  const date = daysOf(year, month, day);
  return ((date * 24 + hour) * 60 + minute - aheadMinutes) * 60_000 + second * 1_000 + ms;
}

/** Days since the Unix epoch of a date of the Gregorian calendar. */
function daysOf(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const leapDays = Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400);
  return y * 365 + leapDays + (daysBefore[month - 1] as number) + day - 719_469;
}

/** Minutes ahead of UTC: `Z`, or a sign, hours and minutes up to `end`. */
function offset(bytes: Uint8Array, pos: number, end: number): number {
  const sign = bytes[pos];
  if (sign === 0x5a) return pos + 1 === end ? 0 : Number.NaN;
  if (end - pos !== 6 || bytes[pos + 3] !== 0x3a) return Number.NaN;
  if (sign !== 0x2b && sign !== 0x2d) return Number.NaN;
  const hours = pair(bytes, pos + 1);
  const minutes = pair(bytes, pos + 4);
  if (!(hours <= 23 && minutes <= 59)) return Number.NaN;
  return (hours * 60 + minutes) * (sign === 0x2d ? -1 : 1);
}

/** Reads two digits; NaN for other bytes. */
function pair(bytes: Uint8Array, pos: number): number {
  const tens = (bytes[pos] as number) ^ 0x30;
  const ones = (bytes[pos + 1] as number) ^ 0x30;
  return tens <= 9 && ones <= 9 ? tens * 10 + ones : Number.NaN;
}
