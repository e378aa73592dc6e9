import type { ClickHouseClient } from '../../sink/client/clickhouse.ts';
import { readRows } from '../../sink/client/read-query.ts';
import type { WindowRange } from '../../sink/windows/window-range.ts';

/** Limits of the backfill on a first start. */
const tuned = {
  /** Stages of windows: about 75 s of work at 25 µs to read, decode and learn one (bench detector-limits). */
  stages: 3_000_000,
  /** Windows that are counted; each represents those around it. */
  samples: 12,
  /** Multiple of the baseline's windows that is always learned. */
  leastTimes: 3,
} as const;

/** Length of the stored windows. */
const storedSeconds = 10;

/**
 * Start of the range that a first start can learn in about a minute. Recent windows matter most, and new
 * windows must not wait. The same tables give the same start.
 *
 * @param minBaselineWindows windows of a baseline.
 */
export async function learnableFromMs(
  client: ClickHouseClient,
  range: WindowRange,
  minBaselineWindows: number,
): Promise<number> {
  const { fromMs, toMs, windowMs } = range;
  const starts = sampledStarts(range);
  const length = windowMs / (1000 * storedSeconds);
  const seconds = starts.flatMap((startMs) =>
    Array.from({ length }, (_, i) => startMs / 1000 + i * storedSeconds),
  );
  const rows = await readRows<{ start: number; stages: string }>(client, 'window_sizes', {
    windowSeconds: windowMs / 1000,
    starts: seconds,
  });
  const found = new Map(rows.map(({ start, stages }) => [start * 1000, Number(stages)]));
  const sizes = starts.map((startMs) => found.get(startMs) ?? 0);
  const windows = windowsWithin(sizes, (toMs - fromMs) / windowMs);
  const least = tuned.leastTimes * minBaselineWindows;
  return Math.max(fromMs, toMs - Math.max(least, windows) * windowMs);
}

/** Starts of windows in the middle of equal parts of a range, the newest first. */
export function sampledStarts({ fromMs, toMs, windowMs }: WindowRange): number[] {
  const windows = (toMs - fromMs) / windowMs;
  const samples = Math.min(tuned.samples, windows);
  return Array.from({ length: samples }, (_, i) => {
    return toMs - Math.ceil(((i + 0.5) * windows) / samples) * windowMs;
  });
}

/**
 * Number of the newest windows that can be learned.
 *
 * @param sizes stages of sampled windows, the newest first, each for an equal part.
 * @param windows number of all windows.
 */
export function windowsWithin(sizes: readonly number[], windows: number): number {
  const each = windows / Math.max(1, sizes.length);
  let left: number = tuned.stages;
  let within = 0;
  for (const size of sizes) {
    const fitting = Math.min(each, left / Math.max(1, size));
    within += fitting;
    left -= fitting * size;
    if (fitting < each) break;
  }
  return Math.floor(within);
}
