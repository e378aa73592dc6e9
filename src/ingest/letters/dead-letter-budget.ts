/** Burst size in seconds of the configured rate. */
const BURST_SECONDS = 10;
const REPORT_INTERVAL_MS = 10_000;

/**
 * Limits the dead letters of a process: a token bucket that holds ten seconds of the configured rate. Pure:
 * monotonic milliseconds are passed in.
 */
export class DeadLetterBudget {
  readonly #perSecond: number;
  #letters: number;
  #filledMs: number | undefined;
  #reportedMs = Number.NEGATIVE_INFINITY;
  #unreported = 0;

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
    this.#letters = perSecond * BURST_SECONDS;
  }

  /** Spends up to `wanted` letters; returns how many may be written. */
  spend(wanted: number, elapsedMs: number): number {
    const filledMs = this.#filledMs ?? elapsedMs;
    const filled = this.#letters + ((elapsedMs - filledMs) / 1000) * this.#perSecond;
    this.#filledMs = elapsedMs;
    this.#letters = Math.min(filled, this.#perSecond * BURST_SECONDS);
    const granted = Math.min(wanted, Math.floor(this.#letters));
    this.#letters -= granted;
    this.#unreported += wanted - granted;
    return granted;
  }

  /** Returns the letters suppressed since the last report, at most every 10 s; else 0. */
  report(elapsedMs: number): number {
    if (this.#unreported === 0 || elapsedMs - this.#reportedMs < REPORT_INTERVAL_MS) return 0;
    const count = this.#unreported;
    this.#unreported = 0;
    this.#reportedMs = elapsedMs;
    return count;
  }
}
