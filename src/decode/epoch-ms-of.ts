const pattern =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/**
 * Milliseconds since the Unix epoch of an RFC 3339 date-time (section 5.6); NaN for other text. Digits beyond
 * milliseconds are cut; a leap second counts as the second after it.
 */
export function epochMsOf(text: string): number {
  const match = pattern.exec(text);
  if (match === null) return Number.NaN;
  const [, year, month, day, hour, minute, second, fraction = '', sign, aheadHour, aheadMinute] =
    match;
  const field = (digits: string | undefined) => Number(digits ?? 0);
  if (field(hour) > 23 || field(minute) > 59 || field(second) > 60) return Number.NaN;
  if (field(aheadHour) > 23 || field(aheadMinute) > 59) return Number.NaN;
  // `setUTCFullYear` accepts the years 0 to 99, which `Date.UTC` changes.
  const date = new Date(0);
  date.setUTCFullYear(field(year), field(month) - 1, field(day));
  if (date.getUTCMonth() !== field(month) - 1 || date.getUTCDate() !== field(day)) {
    return Number.NaN;
  }
  const aheadMinutes = (field(aheadHour) * 60 + field(aheadMinute)) * (sign === '-' ? -1 : 1);
  const seconds = (field(hour) * 60 + field(minute) - aheadMinutes) * 60 + field(second);
  return date.getTime() + seconds * 1_000 + Number(fraction.slice(0, 3).padEnd(3, '0'));
}
