import type { StateArchive } from './state-archive.ts';

const NOTHING = new Float64Array(0);
/** Room that is made at least, on the side where it is needed; of a wide range half of what it has. */
const LEAST_ROOM = 8;

/**
 * Sums by an integer index, one or several of each, dense over the range in use, which grows by need: for
 * histograms whose values lie close together, wherever that is.
 *
 * Memory: 8 bytes a sum of the range.
 */
export class RangeSums {
  readonly #columns: number;
  #low = 0;
  #sums: Float64Array = NOTHING;

  /** @param columns sums of each index, side by side. */
  constructor(columns = 1) {
    this.#columns = columns;
  }

  /** Index of the first of `values`. */
  get low(): number {
    return this.#low;
  }

  /** The sums from `low` on; some are 0. Not to be kept over `place`, which may make room. */
  get values(): Float64Array {
    return this.#sums;
  }

  /** One that is empty, with room for what another one has, and a little more. */
  static like(other: RangeSums): RangeSums {
    const columns = other.#columns;
    const empty = new RangeSums(columns);
    const first = other.#sums.findIndex((sum) => sum !== 0);
    if (first < 0) return empty;
    let last = other.#sums.length - 1;
    while (other.#sums[last] === 0) last--;
    const begin = Math.floor(first / columns) - LEAST_ROOM;
    const end = Math.floor(last / columns) + 1 + LEAST_ROOM;
    empty.#low = other.#low + begin;
    empty.#sums = new Float64Array((end - begin) * columns);
    return empty;
  }

  /** The sums of several, with room for no more than they have. */
  static of(parts: readonly RangeSums[]): RangeSums {
    const used = parts.filter(({ values }) => values.length > 0);
    const columns = used[0] === undefined ? 1 : used[0].#columns;
    const all = new RangeSums(columns);
    if (used.length === 0) return all;
    all.#low = Math.min(...used.map(({ low }) => low));
    const end = Math.max(...used.map(({ low, values }) => low + values.length / columns));
    all.#sums = new Float64Array((end - all.#low) * columns);
    for (const { low, values } of used) {
      const shift = (low - all.#low) * columns;
      for (let i = 0; i < values.length; i++) {
        all.#sums[i + shift] = (all.#sums[i + shift] as number) + (values[i] as number);
      }
    }
    return all;
  }

  /** Where the sums of an index lie in `values`, for which there is room from now on. */
  place(index: number): number {
    const at = (index - this.#low) * this.#columns;
    if (at >= 0 && at < this.#sums.length) return at;
    this.#makeRoomFor(index);
    return (index - this.#low) * this.#columns;
  }

  /** Adds to the first sum of an index. */
  add(index: number, amount: number): void {
    const at = this.place(index);
    this.#sums[at] = (this.#sums[at] as number) + amount;
  }

  carry(state: StateArchive): void {
    state.section('range sums', 1, () => {
      this.#low = state.number(this.#low);
      this.#sums = state.numbers(this.#sums);
    });
  }

  #makeRoomFor(index: number): void {
    const columns = this.#columns;
    const length = this.#sums.length / columns;
    const isEmpty = length === 0;
    const end = this.#low + length;
    const room = Math.max(LEAST_ROOM, length >>> 1);
    const low = isEmpty || index < this.#low ? index - room : this.#low;
    const high = isEmpty || index >= end ? index + room : end - 1;
    const sums = new Float64Array((high - low + 1) * columns);
    if (!isEmpty) sums.set(this.#sums, (this.#low - low) * columns);
    this.#low = low;
    this.#sums = sums;
  }
}
