import { daySeconds } from '../base/time.ts';
import { type Resolution, resolutions, windowSeconds } from '../sink/windows/read-tails.ts';

/** A range of event time in whole steps, and the table that it is read from. Seconds since the epoch. */
export interface TimeRange {
  readonly fromSeconds: number;
  /** Exclusive. */
  readonly toSeconds: number;
  readonly stepSeconds: number;
  readonly resolution: Resolution;
}

/** Time for which windows of each length are kept, in milliseconds. */
export type Retention = Readonly<Record<Resolution, number>>;

/** The same of the tables of a configuration. */
export function retentionOf(kept: Readonly<Record<`latency_${Resolution}`, number>>): Retention {
  const { latency_10s, latency_1m, latency_1h, latency_1d } = kept;
  return { '10s': latency_10s, '1m': latency_1m, '1h': latency_1h, '1d': latency_1d };
}

export interface RangeWish {
  readonly fromMs: number;
  readonly toMs: number;
  readonly nowMs: number;
  readonly retention: Retention;
  /** Steps of a range that names none. */
  readonly wishedSteps: number;
  /** A multiple of 10; chosen where undefined. */
  readonly stepSeconds?: number | undefined;
  /** True if both ends move with the clock. @default false */
  readonly isRelative?: boolean | undefined;
}

/** Steps that one answer may have. */
export const mostSteps = 2_000;
export const defaultSteps = 300;

/** Steps that a reader can name; beyond a day whole days. */
const plainSteps = [
  ...[10, 20, 30, 60, 120, 300, 600, 900, 1_800],
  ...[3_600, 7_200, 10_800, 14_400, 21_600, 43_200, daySeconds],
];
/**
 * Longest range that 10-second windows are chosen for. Their table is ordered by time, so a range of one model
 * reads the windows of all.
 */
const longestFineSeconds = 900;

/**
 * Widens a range to whole steps. One that moves with the clock keeps its length, so that the same range by
 * absolute times has the same steps. The step is the least plain one that gives at most `wishedSteps` and whose
 * windows are still kept. The table has the longest windows of which a step is a whole number.
 */
export function timeRange(wish: RangeWish): TimeRange {
  const { fromMs, toMs, nowMs, retention } = wish;
  const from = Math.max(0, fromMs) / 1000;
  const to = toMs / 1000;
  const kept = resolutions.filter((resolution) => nowMs - retention[resolution] <= fromMs);
  const finest = kept[0] ?? '1d';
  const least = windowSeconds[finest];
  const step = wholeSteps(wish.stepSeconds ?? plainStep(to - from, wish.wishedSteps, least), least);
  const toSeconds = Math.ceil(to / step) * step;
  return {
    fromSeconds:
      wish.isRelative === true
        ? Math.max(0, toSeconds - Math.ceil((to - from) / step) * step)
        : Math.floor(from / step) * step,
    toSeconds,
    stepSeconds: step,
    resolution:
      resolutions.findLast(
        (resolution) => step % windowSeconds[resolution] === 0 && kept.includes(resolution),
      ) ?? finest,
  };
}

/** A step of whole windows. */
function wholeSteps(step: number, windowLength: number): number {
  return Math.ceil(step / windowLength) * windowLength;
}

function plainStep(rangeSeconds: number, wishedSteps: number, least: number): number {
  const finest = rangeSeconds <= longestFineSeconds ? least : Math.max(60, least);
  const wanted = Math.max(finest, rangeSeconds / wishedSteps);
  return plainSteps.find((step) => step >= wanted) ?? wholeSteps(wanted, daySeconds);
}

/** A range as one step, widened to whole windows of a table. */
export function wholeWindows(from: number, to: number, resolution: Resolution): TimeRange {
  const window = windowSeconds[resolution];
  const fromSeconds = Math.max(0, Math.floor(from / window) * window);
  const toSeconds = Math.ceil(to / window) * window;
  return { fromSeconds, toSeconds, stepSeconds: toSeconds - fromSeconds, resolution };
}

/** Number of steps. */
export function stepsOf({ fromSeconds, toSeconds, stepSeconds }: TimeRange): number {
  return (toSeconds - fromSeconds) / stepSeconds;
}
