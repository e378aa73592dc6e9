/** Times as text: one zone a page, the viewer's or UTC. */

import { dayMs, minuteMs } from '../../../src/base/time.ts';
import { formatDuration } from '../../../src/config/duration.ts';

type Form = 'time' | 'seconds' | 'day' | 'dayTime' | 'full';
const forms: Readonly<Record<Form, Intl.DateTimeFormatOptions>> = {
  time: { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  seconds: { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' },
  day: { day: 'numeric', month: 'short' },
  dayTime: { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  full: {
    ...{ day: 'numeric', month: 'short', year: 'numeric' },
    ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' },
  },
};
const made = new Map<string, Intl.DateTimeFormat>();

/** A span of time in epoch milliseconds; its end is exclusive. */
export interface TimeSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Zone {
  readonly utc: boolean;
}

/** A form of a time: `time` 10:17, `seconds` 10:17:20, `day` 25 Nov, `dayTime`, or `full` with all. */
export function formatAs(ms: number, form: Form, { utc }: Zone): string {
  const key = `${form} ${utc}`;
  let format = made.get(key);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-GB', { ...forms[form], ...(utc && { timeZone: 'UTC' }) });
    made.set(key, format);
  }
  return format.format(ms).replace(', ', ' ').replace(' at ', ' ');
}

/**
 * `10:17:20` on the day of `nowMs`, `25 Nov 10:17:20` within a day of it (as at night, just after midnight), else
 * `25 Nov 10:17`, and with the year if that is another.
 */
export function formatTime(ms: number, { utc, nowMs }: Zone & { readonly nowMs: number }): string {
  const zone = { utc };
  if (Math.abs(nowMs - ms) < dayMs) {
    const day = formatAs(ms, 'day', zone);
    const time = formatAs(ms, 'seconds', zone);
    return day === formatAs(nowMs, 'day', zone) ? time : `${day} ${time}`;
  }
  if (Math.abs(nowMs - ms) < 300 * dayMs) return formatAs(ms, 'dayTime', zone);
  return formatAs(ms, 'full', zone);
}

/** `24 Nov 22:00 to 25 Nov 04:00`, or `22:00 to 22:15` where both are today. */
export function formatRange(
  { fromMs, toMs }: TimeSpan,
  { utc, nowMs }: Zone & { readonly nowMs: number },
): string {
  const zone = { utc };
  const day = (ms: number) => formatAs(ms, 'day', zone);
  const year = (ms: number) => formatAs(ms, 'full', zone).slice(0, -9);
  const isOld = Math.abs(nowMs - fromMs) > 300 * dayMs || Math.abs(nowMs - toMs) > 300 * dayMs;
  const at = (ms: number) => `${isOld ? year(ms) : day(ms)} ${formatAs(ms, 'time', zone)}`;
  if (day(fromMs) !== day(toMs) || toMs - fromMs > dayMs) return `${at(fromMs)} – ${at(toMs)}`;
  const end = formatAs(toMs, 'time', zone);
  if (day(fromMs) === day(nowMs) && !isOld) return `${formatAs(fromMs, 'time', zone)} – ${end}`;
  return `${at(fromMs)} – ${end}`;
}

/** The clock of the page minus UTC, at a time. */
export const offsetMs = (ms: number, { utc }: Zone): number =>
  utc ? 0 : -new Date(ms).getTimezoneOffset() * minuteMs;

/** `UTC`, `UTC+1`, `UTC+5:30`: of the page at a time. */
export function zoneName(ms: number, zone: Zone): string {
  const minutes = offsetMs(ms, zone) / minuteMs;
  if (minutes === 0) return 'UTC';
  const size = Math.abs(minutes);
  const rest = size % 60;
  return `UTC${minutes < 0 ? '−' : '+'}${Math.floor(size / 60)}${rest ? `:${String(rest).padStart(2, '0')}` : ''}`;
}

/** `10 s` of `10s`, `5 min` of `5m`, `1 d` of `1d`. */
const spaced = (text: string) =>
  text.replace(/^([\d.]+)(\w+)$/, (_, amount, unit) => `${amount} ${unit === 'm' ? 'min' : unit}`);

/** `10 s`, `90 min`, `2 h`, `1 d`: a length in the largest unit that is exact. */
export const stepName = (stepMs: number): string => spaced(formatDuration(stepMs));

/** A step of a grid in words: `25 Nov 10:20 to 10:25`. */
export function stepText(
  { fromMs, stepMs }: Pick<TimeSpan, 'fromMs'> & { readonly stepMs: number },
  step: number,
  zone: Zone,
): string {
  const ms = fromMs + step * stepMs;
  const form = stepMs < minuteMs ? 'seconds' : 'time';
  const day = formatAs(ms, 'day', zone);
  if (stepMs >= dayMs) return day;
  return `${day} ${formatAs(ms, form, zone)} to ${formatAs(ms + stepMs, form, zone)}`;
}

/** `last 6 h` of `-6h`. */
export const relativeName = (text: string): string => `last ${spaced(text.slice(1))}`;
