/** What became of an event offered to a chunk. */
export const outcomes = {
  aggregated: 0,
  /** Counted, but in the series `__other__`, as the chunk has its full number of series. */
  overflow: 1,
  /** Older than the allowed lateness behind the partition's watermark: not counted. */
  late: 2,
  /** Too far ahead of the clock: not counted. */
  future: 3,
  /** In another window than the many that the chunk has already: not counted. */
  tooManyWindows: 4,
} as const;

export type Outcome = (typeof outcomes)[keyof typeof outcomes];
