/**
 * All numbers so far, in order, to rank new ones. Memory: 8 bytes each. Adding one costs a search and a move
 * of the larger ones. That is fast enough for some ten thousand, so it serves evaluation only.
 */
export class SortedPast {
  readonly #values: number[] = [];

  /** Returns -ln of the chance to be as high: by rank; in the highest hundredth by a power law. */
  surprise(value: number): number {
    const { length } = this.#values;
    if (length < leastPast) return 0;
    const high = this.#values[Math.min(length - 1, Math.floor(tail * length))] as number;
    if (value <= high) return -Math.log((length - this.#rank(value) + 0.5) / (length + 1));
    const median = this.#values[length >> 1] as number;
    const scale = Math.max(high - median, 1e-9 * high, 1e-12);
    return Math.min(most, -Math.log(1 - tail) * (1 + Math.log((value - median) / scale)));
  }

  observe(value: number): void {
    this.#values.splice(this.#rank(value), 0, value);
  }

  /** Returns the number of lower ones. */
  #rank(value: number): number {
    let low = 0;
    let high = this.#values.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#values[middle] as number) < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const leastPast = 31;
/** From this quantile on, ranks are too coarse. */
const tail = 0.99;
const most = 40;
