/** Largest step by which the timestamp of a record moves the clock. */
const STEP_MS = 60_000;
/** Records in a row beyond a step after which their time is believed. */
const ODD_RECORDS = 32;

/** State of a clock, to go on from. */
export interface LogClockState {
  readonly nowMs: number;
  readonly referenceMs: number;
  readonly oddRecords: number;
}

/**
 * The time of a partition, a function of its records' timestamps and of nothing else. It never goes back. It
 * begins at 0 and is no wall clock: only differences mean something.
 *
 * The latest timestamp moves it. One that is more than a minute away is believed only after 32 such in a row,
 * and moves nothing by itself: a producer with a wrong clock among others changes nothing, and neither does a
 * pause in the traffic. Traces from before a pause close by what comes after it, or by ticks at the log's end.
 */
export class LogClock {
  #nowMs: number;
  #referenceMs: number;
  #oddRecords: number;

  constructor({ nowMs, referenceMs, oddRecords }: LogClockState = unstarted) {
    this.#nowMs = nowMs;
    this.#referenceMs = referenceMs;
    this.#oddRecords = oddRecords;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  get state(): LogClockState {
    return {
      nowMs: this.#nowMs,
      referenceMs: this.#referenceMs,
      oddRecords: this.#oddRecords,
    };
  }

  /** Takes in the timestamp of the next record. */
  observe(timestampMs: number): void {
    if (this.#referenceMs < 0) {
      this.#referenceMs = Math.max(0, timestampMs);
      return;
    }
    const stepMs = timestampMs - this.#referenceMs;
    if (stepMs > STEP_MS || stepMs < -STEP_MS) {
      if (++this.#oddRecords < ODD_RECORDS) return;
      this.#referenceMs = Math.max(0, timestampMs);
    } else if (stepMs > 0) {
      this.#referenceMs = timestampMs;
      this.#nowMs += stepMs;
    }
    this.#oddRecords = 0;
  }

  /** Moves the clock without a record. */
  tick(ms: number): void {
    this.#nowMs += ms;
  }
}

const unstarted: LogClockState = { nowMs: 0, referenceMs: -1, oddRecords: 0 };
