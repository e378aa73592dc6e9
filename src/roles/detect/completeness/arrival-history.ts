/** A log's end as it was seen: from when on, and until when. */
export interface SeenEnd {
  readonly firstMs: number;
  readonly lastMs: number;
  /** Offset after the last record that had arrived. */
  readonly endOffset: number;
}

/** At one look a second: eight minutes of a lag at full resolution, an hour at 8 s. */
const mostEnds = 512;

/**
 * Which records of one partition had arrived when: the ends of its log over time, by the clock of whoever
 * looked. Limited: where it is full every second end is dropped, so that what is far behind is known more
 * coarsely, and never as further than it is.
 *
 * Cost: O(ends dropped) a call. Memory: 512 ends at most.
 */
export class ArrivalHistory {
  #ends: SeenEnd[] = [];

  /** Adds a look that began then. A log that ends earlier than before is another one. */
  add(atMs: number, endOffset: number): void {
    const last = this.#ends.at(-1);
    if (last !== undefined && endOffset < last.endOffset) this.#ends = [];
    const lastMs = Math.max(atMs, last?.lastMs ?? atMs);
    if (last?.endOffset === endOffset) this.#ends[this.#ends.length - 1] = { ...last, lastMs };
    else this.#ends.push({ firstMs: lastMs, lastMs, endOffset });
    if (this.#ends.length > mostEnds) this.#thin();
  }

  /**
   * The last look of whose records all are stored; undefined where that was before the first. What lies before it
   * is forgotten.
   */
  storedUntil(storedOffset: number): SeenEnd | undefined {
    let next = 0;
    while ((this.#ends[next]?.endOffset ?? Number.POSITIVE_INFINITY) <= storedOffset) next++;
    if (next > 1) this.#ends.splice(0, next - 1);
    return next === 0 ? undefined : this.#ends[0];
  }

  /** Keeps the first and the last. */
  #thin(): void {
    const last = this.#ends.length - 1;
    this.#ends = this.#ends.filter((_, at) => at % 2 === 0 || at === last);
  }
}
