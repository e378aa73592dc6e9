import { daySeconds, hourSeconds } from '../base/time.ts';
import type { TimeRange } from './time-range.ts';

const baselineDays = 7;

/** Parts of a day that a baseline is read of, and over which days. */
export interface BaselineSlots {
  /** Length of a part of the day: whole hours, as the baseline is read from 1-hour windows. */
  readonly slotSeconds: number;
  /** Start of the range's first part of the day, in seconds of the day. */
  readonly firstSlot: number;
  readonly slots: number;
  readonly baselineFromSeconds: number;
  readonly baselineToSeconds: number;
}

/** The same parts of the day as those of a range, over the seven days before it. */
export function baselineSlots({ fromSeconds, toSeconds, stepSeconds }: TimeRange): BaselineSlots {
  const slotSeconds = slotLength(stepSeconds);
  const baselineToSeconds = Math.floor(fromSeconds / slotSeconds) * slotSeconds;
  return {
    slotSeconds,
    firstSlot: baselineToSeconds % daySeconds,
    slots: Math.min(
      Math.ceil(daySeconds / slotSeconds),
      Math.ceil((toSeconds - baselineToSeconds) / slotSeconds),
    ),
    baselineFromSeconds: Math.max(0, baselineToSeconds - baselineDays * daySeconds),
    baselineToSeconds,
  };
}

/** Start of the part of the day that a time is in, in seconds of the day. */
export function slotOf(atSeconds: number, { slotSeconds }: Pick<BaselineSlots, 'slotSeconds'>) {
  return Math.floor((atSeconds % daySeconds) / slotSeconds) * slotSeconds;
}

/** Whole hours that a day is a multiple of. */
function slotLength(stepSeconds: number): number {
  let slot = Math.ceil(stepSeconds / hourSeconds) * hourSeconds;
  while (slot < daySeconds && daySeconds % slot !== 0) slot += hourSeconds;
  return Math.min(slot, daySeconds);
}
