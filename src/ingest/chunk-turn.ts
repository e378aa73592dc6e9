/** The fractional parts of its multiples are spread evenly, however many there are. */
const GOLDEN_RATIO = (Math.sqrt(5) - 1) / 2;
/**
 * Time from when a window is complete to the first turn. The detector looks each second how far Kafka's
 * partitions reach, and takes an event for up to a second later than it is; records take a moment to be read.
 * A chunk that is stored sooner would not complete the window, which would wait an interval more.
 */
const MARGIN_MS = 3_000;
/** Time over which the turns of partitions are spread, if the interval is longer. */
const SPREAD_MS = 2_500;
/**
 * Least time to a turn, or half an interval if that is shorter: the delay of events varies. A turn is at most
 * so much later than an interval, well below the 20 s after which a consumer without commits is not ready.
 */
const LEAST_MS = 5_000;

/** When chunks of a partition are stored. */
export interface Turn {
  readonly partition: number;
  /** Time between two chunks, in ms; 0 for at once. */
  readonly intervalMs: number;
  /** Time from a window's end until its events have arrived: the grace, and the partition's own delay. */
  readonly arrivalMs: number;
}

/**
 * Returns the time in ms from `nowMs` to a turn of a partition: the first that is not too near.
 *
 * Intervals are counted as windows are, from 1970, and a turn comes soon after a window can be complete. With
 * an interval of one window, each window is in two chunks. Partitions would wait for each other if they
 * stored at the same time, so their turns differ.
 */
export function untilTurn(nowMs: number, { partition, intervalMs, arrivalMs }: Turn): number {
  if (intervalMs === 0) return 0;
  const spreadMs = Math.min(SPREAD_MS, intervalMs) * ((partition * GOLDEN_RATIO) % 1);
  const leastMs = Math.min(LEAST_MS, intervalMs / 2);
  const sinceMs = (nowMs + leastMs - arrivalMs - MARGIN_MS - spreadMs) % intervalMs;
  return leastMs + (sinceMs < 0 ? -sinceMs : intervalMs - sinceMs);
}
