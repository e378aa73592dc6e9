import { dayMs, minuteMs } from '../../../../src/base/time.ts';
import { formatAs, zoneName } from '../../format/time.ts';
import { type TimeTicks, timeTicks } from '../geometry/time-ticks.ts';

const offsetMs = (utc: boolean) => (atMs: number) =>
  utc ? 0 : -new Date(atMs).getTimezoneOffset() * minuteMs;

/** Round times by the page's clock. */
export const pageTimeTicks = (
  fromMs: number,
  toMs: number,
  most: number,
  utc: boolean,
): TimeTicks => timeTicks(fromMs, toMs, most, offsetMs(utc));

/** "10:20", "10:20:30" where ticks are seconds apart, and the day at midnight. */
export function tickText(atMs: number, stepMs: number, utc: boolean): string {
  const isMidnight = (atMs + offsetMs(utc)(atMs)) % dayMs === 0;
  if (isMidnight) return formatAs(atMs, 'day', { utc });
  return formatAs(atMs, stepMs < minuteMs ? 'seconds' : 'time', { utc });
}

/** "UTC+1, 5 min a step". */
export const axisTitle = (fromMs: number, stepMs: number, utc: boolean): string =>
  `${zoneName(fromMs, { utc })}, ${stepName(stepMs)} a step`;

/** "10 s", "1 min", "2 h", "1 d". */
function stepName(stepMs: number): string {
  const [size, unit] = units.find(([size]) => stepMs % size === 0) ?? [1000, 's'];
  return `${stepMs / size} ${unit}`;
}

const units = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
] as const;

/** A step in words: "25 Nov 10:20 to 10:25". */
export function stepText(atMs: number, stepMs: number, utc: boolean): string {
  const form = stepMs < minuteMs ? 'seconds' : 'time';
  const day = formatAs(atMs, 'day', { utc });
  if (stepMs >= dayMs) return day;
  return `${day} ${formatAs(atMs, form, { utc })} to ${formatAs(atMs + stepMs, form, { utc })}`;
}
