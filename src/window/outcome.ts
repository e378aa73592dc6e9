export const outcomes = {
  aggregated: 0,
  /** Counted in the series `__other__`, as the chunk has its maximum number of series. */
  overflow: 1,
  /** Not counted: later than the allowed lateness behind the partition's watermark. */
  late: 2,
  /** Not counted: too far ahead of the clock. */
  future: 3,
  /** Not counted: the chunk has its maximum number of windows. */
  tooManyWindows: 4,
} as const;

export type Outcome = (typeof outcomes)[keyof typeof outcomes];
