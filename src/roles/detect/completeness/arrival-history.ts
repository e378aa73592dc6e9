/** An end offset of the log, and when it was first and last seen. */
export interface SeenEnd {
  readonly firstMs: number;
  readonly lastMs: number;
  /** Offset after the last record that had arrived. */
  readonly endOffset: number;
}

/** With one probe per second: eight minutes of lag at full resolution, an hour at 8 s. */
const mostEnds = 512;

/**
 * The end offsets of a partition's log over time, by the prober's clock. When it is full, every second entry
 * is dropped. Old lag is then known more coarsely, and never too optimistically.
 *
 * Cost: O(dropped entries) per call. Memory: at most 512 entries.
 */
export class ArrivalHistory {
  #ends: SeenEnd[] = [];

  /** Adds a probe by its start. A log that ends earlier than before is another log. */
  add(atMs: number, endOffset: number): void {
    const last = this.#ends.at(-1);
    if (last !== undefined && endOffset < last.endOffset) this.#ends = [];
    const lastMs = Math.max(atMs, last?.lastMs ?? atMs);
    if (last?.endOffset === endOffset) this.#ends[this.#ends.length - 1] = { ...last, lastMs };
    else this.#ends.push({ firstMs: lastMs, lastMs, endOffset });
    if (this.#ends.length > mostEnds) this.#thin();
  }

  /** Returns the last probe whose records are all stored, and drops those before it. */
  storedUntil(storedOffset: number): SeenEnd | undefined {
    let next = 0;
    while ((this.#ends[next]?.endOffset ?? Number.POSITIVE_INFINITY) <= storedOffset) next++;
    if (next > 1) this.#ends.splice(0, next - 1);
    return next === 0 ? undefined : this.#ends[0];
  }

  /** Drops every second entry, but keeps the first and the last. */
  #thin(): void {
    const last = this.#ends.length - 1;
    this.#ends = this.#ends.filter((_, at) => at % 2 === 0 || at === last);
  }
}
