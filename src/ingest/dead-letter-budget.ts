/** Seconds of the rate that may be written at once, after as long a silence. */
const BURST_SECONDS = 10;
const REPORT_INTERVAL_MS = 10_000;

/**
 * How many dead letters a process may write: a bucket that holds ten seconds' worth and fills at
 * the configured rate. Pure: the time is passed in, as milliseconds that never go back.
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

  /** Takes up to `wanted` letters; returns how many may be written. */
  spend(wanted: number, elapsedMs: number): number {
    const filledMs = this.#filledMs ?? elapsedMs;
    const filled = this.#letters + ((elapsedMs - filledMs) / 1000) * this.#perSecond;
    this.#filledMs = elapsedMs;
    this.#letters = Math.min(filled, this.#perSecond * BURST_SECONDS);
    const taken = Math.min(wanted, Math.floor(this.#letters));
    this.#letters -= taken;
    this.#unreported += wanted - taken;
    return taken;
  }

  /** Letters not written since the last report, if one is due; else 0. At most one in 10 s. */
  report(elapsedMs: number): number {
    if (this.#unreported === 0 || elapsedMs - this.#reportedMs < REPORT_INTERVAL_MS) return 0;
    const count = this.#unreported;
    this.#unreported = 0;
    this.#reportedMs = elapsedMs;
    return count;
  }
}
