import { minuteMs } from '../time.ts';

const maxRetryAfterMs = 15 * minuteMs;

/**
 * Wait that a header `Retry-After` asks for, from 0 to 15 minutes. Undefined if it is neither seconds nor a
 * date.
 *
 * @param nowMs time that a date is relative to: best the server's own, by its header `Date`
 */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  const waitMs = /^\d+$/.test(text)
    ? Number(text) * 1_000
    : (httpDateMs(text) ?? Number.NaN) - nowMs;
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(waitMs, 0), maxRetryAfterMs);
}

/** The three forms of RFC 9110, 5.6.7. `Date.parse` alone would read a date into "soon 3". */
const httpDates: readonly RegExp[] = [
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/,
];

/** The time of a date in a header, such as `Sun, 06 Nov 1994 08:49:37 GMT`; undefined if it is none. */
export function httpDateMs(header: string | undefined): number | undefined {
  const text = header?.trim() ?? '';
  if (!httpDates.some((form) => form.test(text))) return undefined;
  const timeMs = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(timeMs) ? undefined : timeMs;
}
