const NOTHING = new Float64Array(0);
/** Room that is made at least, on the side where it is needed. */
const LEAST_ROOM = 8;

/**
 * Sums by an integer index, dense over the range in use, which grows by need: for histograms whose
 * values lie close together, wherever that is.
 *
 * Memory: 8 bytes an index of the range.
 */
export class RangeSums {
  #low = 0;
  #sums = NOTHING;

  /** Index of the first of `values`. */
  get low(): number {
    return this.#low;
  }

  /** The sums from `low` on; some are 0. Not to be written to. */
  get values(): Float64Array {
    return this.#sums;
  }

  add(index: number, amount: number): void {
    let at = index - this.#low;
    if (at < 0 || at >= this.#sums.length) {
      this.#makeRoom(index, index);
      at = index - this.#low;
    }
    this.#sums[at] = (this.#sums[at] as number) + amount;
  }

  addAll({ low, values }: RangeSums): void {
    if (values.length === 0) return;
    this.#makeRoom(low, low + values.length - 1);
    const sums = this.#sums;
    const shift = low - this.#low;
    for (let i = 0; i < values.length; i++) {
      sums[i + shift] = (sums[i + shift] as number) + (values[i] as number);
    }
  }

  #makeRoom(from: number, to: number): void {
    const { length } = this.#sums;
    const isEmpty = length === 0;
    const end = this.#low + length;
    if (!isEmpty && from >= this.#low && to < end) return;
    const low = isEmpty || from < this.#low ? from - LEAST_ROOM : this.#low;
    const high = isEmpty || to >= end ? to + LEAST_ROOM : end - 1;
    const sums = new Float64Array(high - low + 1);
    if (!isEmpty) sums.set(this.#sums, this.#low - low);
    this.#low = low;
    this.#sums = sums;
  }
}
