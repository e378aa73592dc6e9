/** The fractional parts of its multiples are spread evenly, however many there are. */
const GOLDEN_RATIO = (Math.sqrt(5) - 1) / 2;

/** When chunks of a partition are stored. */
export interface Turn {
  readonly partition: number;
  /** Time between two chunks, in ms. */
  readonly intervalMs: number;
  /** `windows.grace`: a window is complete when what arrived by then is stored. */
  readonly graceMs: number;
}

/**
 * Returns the time in ms from `nowMs` to the next turn of a partition, at most an interval.
 *
 * Intervals are counted as windows are, from 1970. With an interval of one window each window is so in two
 * chunks, however long tailmark has run. A turn is in the first half of an interval, after the grace: the
 * window that has ended is then complete, and need not wait for a later chunk. Partitions have their turns
 * spread over that half, as they would wait for each other.
 */
export function untilTurn(nowMs: number, { partition, intervalMs, graceMs }: Turn): number {
  if (intervalMs === 0) return 0;
  const turnMs = graceMs + (intervalMs / 2) * ((partition * GOLDEN_RATIO) % 1);
  const sinceMs = (nowMs - turnMs) % intervalMs;
  return sinceMs < 0 ? -sinceMs : intervalMs - sinceMs;
}
