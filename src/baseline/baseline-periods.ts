/** Blocks of a baseline; the oldest is dropped as a whole. */
export const blocksPerBaseline = 8;
/** Windows between renewals of a reference: a minute at 10 s, later one for each block of an hour. */
const refreshWindows = { few: 6, many: 45 } as const;
const manyWindows = 180;

/**
 * Periods of a baseline: blocks and renewals begin at multiples of their lengths. So a restarted detector
 * that reads the same windows has the same reference.
 */
export class BaselinePeriods {
  readonly baselineMs: number;
  readonly windowMs: number;
  readonly blockMs: number;
  readonly #fewMs: number;
  readonly #manyMs: number;

  constructor(baselineMs: number, windowMs: number) {
    this.baselineMs = baselineMs;
    this.windowMs = windowMs;
    const windows = Math.ceil(baselineMs / windowMs / blocksPerBaseline);
    this.blockMs = Math.max(1, windows) * windowMs;
    this.#fewMs = refreshWindows.few * windowMs;
    this.#manyMs = refreshWindows.many * windowMs;
  }

  /** Start of the block of a window. */
  blockOf(startMs: number): number {
    return Math.floor(startMs / this.blockMs) * this.blockMs;
  }

  /** Number of the renewal period of a reference; periods are longer from `manyWindows` windows on. */
  renewalOf(startMs: number, windows = 0): number {
    return Math.floor(startMs / (isYoung(windows) ? this.#fewMs : this.#manyMs));
  }

  /** Next boundary after a window: before it no window of any stage begins a block or renews a reference. */
  nextBoundary(startMs: number): number {
    let untilMs = Number.POSITIVE_INFINITY;
    for (const ms of [this.blockMs, this.#fewMs, this.#manyMs]) {
      untilMs = Math.min(untilMs, (Math.floor(startMs / ms) + 1) * ms);
    }
    return untilMs;
  }
}

/** Returns true below the number of windows at which renewals become rarer. */
export function isYoung(windows: number): boolean {
  return windows < manyWindows;
}
