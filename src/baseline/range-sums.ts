import type { StateArchive } from './state-archive.ts';

const NOTHING = new Float64Array(0);
/** Room that is made at least, on the side where it is needed; of a wide range half of what it has. */
const LEAST_ROOM = 8;

/**
 * Sums by an integer index, dense over the range in use, which grows by need: for histograms whose
 * values lie close together, wherever that is.
 *
 * Memory: 8 bytes an index of the range.
 */
export class RangeSums {
  #low = 0;
  #sums: Float64Array = NOTHING;

  /** Index of the first of `values`. */
  get low(): number {
    return this.#low;
  }

  /** The sums from `low` on; some are 0. Not to be written to. */
  get values(): Float64Array {
    return this.#sums;
  }

  /** The sums of several, with room for no more than they have. */
  static of(parts: readonly RangeSums[]): RangeSums {
    const all = new RangeSums();
    const used = parts.filter(({ values }) => values.length > 0);
    if (used.length === 0) return all;
    all.#low = Math.min(...used.map(({ low }) => low));
    const end = Math.max(...used.map(({ low, values }) => low + values.length));
    all.#sums = new Float64Array(end - all.#low);
    for (const { low, values } of used) {
      const shift = low - all.#low;
      for (let i = 0; i < values.length; i++) {
        all.#sums[i + shift] = (all.#sums[i + shift] as number) + (values[i] as number);
      }
    }
    return all;
  }

  add(index: number, amount: number): void {
    let at = index - this.#low;
    if (at < 0 || at >= this.#sums.length) {
      this.#makeRoomFor(index);
      at = index - this.#low;
    }
    this.#sums[at] = (this.#sums[at] as number) + amount;
  }

  carry(state: StateArchive): void {
    state.section('range sums', 1, () => {
      this.#low = state.number(this.#low);
      this.#sums = state.numbers(this.#sums);
    });
  }

  #makeRoomFor(index: number): void {
    const { length } = this.#sums;
    const isEmpty = length === 0;
    const end = this.#low + length;
    const room = Math.max(LEAST_ROOM, length >>> 1);
    const low = isEmpty || index < this.#low ? index - room : this.#low;
    const high = isEmpty || index >= end ? index + room : end - 1;
    const sums = new Float64Array(high - low + 1);
    if (!isEmpty) sums.set(this.#sums, this.#low - low);
    this.#low = low;
    this.#sums = sums;
  }
}
