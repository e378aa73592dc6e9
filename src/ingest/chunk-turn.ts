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

/** Times at which a partition's chunks are stored. */
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

/** Intervals for which a chunk is filled while its partition is behind: larger chunks cost less. */
const INTERVALS_BEHIND = 6;
/** Maximum of that time: a consumer that commits nothing for 20 s more than an interval is not ready. */
const MOST_BEHIND_MS = 20_000;
/** A partition is behind if more records wait than are read in this time. */
const BEHIND_MS = 1_000;
/** Fewer are read at once, or are markers that nobody is given. */
const LEAST_BEHIND = 1_000;
/** Age of the first chunk of a claim, once nothing waits: the partition was idle during the rebalance. */
const FIRST_CHUNK_MS = 1_000;

/** The open chunk of a partition. */
export interface Filling {
  readonly partition: number;
  readonly records: number;
  /** Offsets between it and the end of the log, as far as it is known. */
  readonly waiting: number;
  /** Time for which it has been open. */
  readonly openMs: number;
  readonly openedAtMs: number;
  /** Event time that was reached before it. */
  readonly watermarkMs: number;
  /** Time from a window's end until its events have arrived (`windows.grace`). */
  readonly graceMs: number;
  /** True for the first one of its claim. */
  readonly isFirst: boolean;
}

/** Returns the age at which a chunk is stored: at its partition's turn, sooner or later. */
export function dueMs(intervalMs: number, filling: Filling): number {
  const { partition, records, waiting, openMs, openedAtMs, watermarkMs } = filling;
  const areWaiting = waiting > LEAST_BEHIND;
  if (areWaiting && waiting * openMs > records * BEHIND_MS) {
    return Math.min(intervalMs * INTERVALS_BEHIND, Math.max(intervalMs, MOST_BEHIND_MS));
  }
  if (filling.isFirst && !areWaiting) return Math.min(intervalMs, FIRST_CHUNK_MS);
  // Events that come late complete their window late.
  const delayMs = Math.max(0, openedAtMs - watermarkMs);
  const arrivalMs = filling.graceMs + (Number.isFinite(delayMs) ? delayMs : 0);
  return untilTurn(openedAtMs, { partition, intervalMs, arrivalMs });
}
