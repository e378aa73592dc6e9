import { dayMs, minuteMs } from '../../../../src/base/time.ts';
import type { TimeSpan } from '../../format/time.ts';
import { formatAs, offsetMs, stepName, type Zone, zoneName } from '../../format/time.ts';
import {
  linearScale,
  linearTicks,
  logTicks,
  type Scale,
  type Span,
  timeTicks,
} from '../geometry/scale.ts';
import type { StepGrid } from '../geometry/step-grid.ts';

/** A value of an axis with a grid line, and its label. */
export type Tick = readonly [value: number, text: string];

/** An axis of a plot, which lays it out once it knows how long it is. */
export interface Axis {
  /** Values at its ends. */
  readonly span: Span;
  /** Position of a value before it is stretched to pixels. @default the value itself */
  readonly along?: (value: number) => number;
  readonly ticks: (px: number, scale: Scale) => readonly Tick[];
}

export function scaleOf({ span, along = (value) => value }: Axis, range: Span): Scale {
  const linear = linearScale([along(span[0]), along(span[1])], range);
  return (value) => linear(along(value));
}

/** Pixels that a label needs, beside or above the next one. */
const labelPx = { time: 70, duration: 60, above: 22 } as const;

/** Times of the page's clock. */
export function timeAxis({ fromMs, toMs }: TimeSpan, zone: Zone): Axis {
  return {
    span: [fromMs, toMs],
    ticks(px) {
      const most = Math.max(2, Math.floor(px / labelPx.time));
      const { times, stepMs } = timeTicks(fromMs, toMs, most, (ms) => offsetMs(ms, zone));
      return times.map((ms) => [ms, tickText(ms, stepMs, zone)]);
    },
  };
}

/** "10:20", "10:20:30" where ticks are seconds apart, and the day at midnight. */
function tickText(ms: number, stepMs: number, zone: Zone): string {
  const isMidnight = (ms + offsetMs(ms, zone)) % dayMs === 0;
  return formatAs(ms, isMidnight ? 'day' : stepMs < minuteMs ? 'seconds' : 'time', zone);
}

/** "UTC+1, 5 min a step". */
export const timeTitle = ({ fromMs, stepMs }: StepGrid, zone: Zone): string =>
  `${zoneName(fromMs, zone)}, ${stepName(stepMs)} a step`;

/** Durations by their logarithm, which must be positive. */
export function logAxis(span: Span, text: (ms: number) => string, isBelow = false): Axis {
  return {
    span,
    along: (ms) => Math.log(Math.max(ms, Number.MIN_VALUE)),
    ticks(px) {
      const most = Math.max(3, Math.floor(px / (isBelow ? labelPx.duration : labelPx.above)));
      return logTicks(span, most).map((ms) => [ms, text(ms)]);
    },
  };
}

/**
 * Values from 0.
 *
 * @param last value from which on there is no grid line.
 */
export const linearAxis = (
  most: number,
  text: (value: number) => string,
  last: number = most,
): Axis => ({
  span: [0, most],
  ticks: () => linearTicks([0, last], 5).map((value) => [value, text(value)]),
});
