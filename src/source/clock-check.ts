/** Items that follow an item and decide about it. */
const FOLLOWERS = 50;
/** Fewer do not show that it is ahead: they may be old themselves. */
const LEAST_EARLIER = 3;

/** An item of a recording, and whether its time is wrong. */
export interface CheckedItem<T> {
  readonly item: T;
  readonly isAhead: boolean;
}

interface Held<T> {
  readonly item: T;
  readonly timeMs: number;
}

/**
 * Finds the items of a recording whose clock was ahead. Such an item is later than most of the items that
 * follow it, by more than `aheadMs`. After a gap without traffic all items are later, and none is ahead.
 *
 * Holds the last `FOLLOWERS` items back. An item costs as many comparisons.
 */
export class ClockCheck<T> {
  readonly #aheadMs: number;
  readonly #held: Held<T>[] = [];

  constructor(aheadMs: number) {
    this.#aheadMs = aheadMs;
  }

  /**
   * Adds an item, and returns those that can be decided.
   *
   * @param timeMs NaN without a time: such an item is not ahead, and decides about none.
   */
  *push(item: T, timeMs: number): Generator<CheckedItem<T>, void> {
    this.#held.push({ item, timeMs });
    if (this.#held.length > FOLLOWERS) yield this.#next();
  }

  /** The rest, each decided by those that follow it. */
  *drain(): Generator<CheckedItem<T>, void> {
    while (this.#held.length > 0) yield this.#next();
  }

  #next(): CheckedItem<T> {
    const { item, timeMs } = this.#held.shift() as Held<T>;
    const limitMs = timeMs - this.#aheadMs;
    const earlier = this.#held.reduce((n, other) => (other.timeMs < limitMs ? n + 1 : n), 0);
    return { item, isAhead: earlier >= Math.max(LEAST_EARLIER, this.#held.length / 2) };
  }
}
