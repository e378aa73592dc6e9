/**
 * How long partitions wait for a schema that the registry does not know yet: a node learns of a new one from
 * its leader after the producer has used it.
 *
 * | value | unit | why |
 * |---|---|---|
 * | 60 s | of one id | followers lag by seconds, a node that restarts reads its log of schemas again first |
 * | 120 s, and 1/10 of the time since | of all ids | bytes that are no ids cost a tenth of the time |
 * | 5 s | longest pause between requests | a new schema is read soon after it is known |
 */
export const missingWait = {
  ofIdMs: 60_000,
  ofAllMs: 120_000,
  shareOfTime: 1 / 10,
  pauseMs: 5_000,
} as const;

/** Time that may be spent waiting for ids that the registry does not know. */
export class MissingWaitBudget {
  readonly #elapsedMs: () => number;
  #leftMs: number = missingWait.ofAllMs;
  #asOfMs: number;

  /** @param elapsedMs monotonic time. */
  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs;
    this.#asOfMs = elapsedMs();
  }

  /** Takes time from the budget; returns how much of it there is. */
  take(ms: number): number {
    const nowMs = this.#elapsedMs();
    const earnedMs = (nowMs - this.#asOfMs) * missingWait.shareOfTime;
    this.#leftMs = Math.min(missingWait.ofAllMs, this.#leftMs + earnedMs);
    this.#asOfMs = nowMs;
    const takenMs = Math.min(ms, Math.max(0, this.#leftMs));
    this.#leftMs -= takenMs;
    return takenMs;
  }
}
