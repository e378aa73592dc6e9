/** The past is kept in this many pieces; the oldest is dropped whole. */
const blocksPerBaseline = 8;
/** The reference is renewed after so many windows: a minute, at the usual 10 s; one of many with each block of an hour. */
const refreshWindows = { few: 6, many: 45 } as const;
const manyWindows = 180;

/**
 * When blocks of a baseline begin, and when its references are renewed: at multiples of their lengths, so
 * that a detector started anew over the same windows holds the same reference.
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

  /** Start of the block that a window is in. */
  blockOf(startMs: number): number {
    return Math.floor(startMs / this.blockMs) * this.blockMs;
  }

  /** A reference of so many windows is renewed once this is another number. */
  renewalOf(startMs: number, windows: number): number {
    return Math.floor(startMs / (isYoung(windows) ? this.#fewMs : this.#manyMs));
  }

  /** Until then, after a window, no other window begins a block or has a reference renewed, whatever it is of. */
  quietUntil(startMs: number): number {
    let untilMs = Number.POSITIVE_INFINITY;
    for (const ms of [this.blockMs, this.#fewMs, this.#manyMs]) {
      untilMs = Math.min(untilMs, (Math.floor(startMs / ms) + 1) * ms);
    }
    return untilMs;
  }
}

/** Of so few windows each may be the one with which renewals become rarer. */
export function isYoung(windows: number): boolean {
  return windows < manyWindows;
}
