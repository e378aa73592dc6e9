import type { StateArchive } from '../snapshot/archive.ts';
import { type Allocation, Arena, type ArenaScope } from './arena.ts';

const memory = Arena.shared();

/** Room that is made at least, on the side where it is needed; of a wide range half of what it has. */
const LEAST_ROOM = 8;

/**
 * Sums by an integer index, one or several of each, dense over the range in use, which grows by need: for
 * histograms whose values lie close together, wherever that is.
 *
 * Memory: 8 bytes a sum of the range, in `StateMemory`.
 */
export class RangeSums {
  readonly #columns: number;
  readonly #scope: ArenaScope;
  #allocation: Allocation | undefined;
  #low = 0;
  /** How many sums there are. */
  #length = 0;

  /**
   * @param columns sums of each index, side by side.
   * @param rooms from which it takes what it needs.
   */
  constructor(columns = 1, rooms = memory.scope()) {
    this.#columns = columns;
    this.#scope = rooms;
  }

  /** Index of the first of `values`. */
  get low(): number {
    return this.#low;
  }

  /** Indices for which there is room. */
  get range(): number {
    return this.#length / this.#columns;
  }

  /** Where the sums are, in `StateMemory`. */
  get offset(): number {
    return this.#allocation?.offset ?? 0;
  }

  /** The sums from `low` on; some are 0. A view, for as long as the memory does not grow. */
  get values(): Float64Array {
    return memory.doubles.subarray(this.offset, this.offset + this.#length);
  }

  /** One that is empty, with room for what another one has, and a little more. */
  static like(other: RangeSums): RangeSums {
    const columns = other.#columns;
    const empty = new RangeSums(columns, other.#scope);
    const all = memory.doubles;
    const { offset: at } = other;
    let first = 0;
    let last = other.#length - 1;
    while (first <= last && all[at + first] === 0) first++;
    if (first > last) return empty;
    while (all[at + last] === 0) last--;
    const begin = Math.floor(first / columns) - LEAST_ROOM;
    const end = Math.floor(last / columns) + 1 + LEAST_ROOM;
    empty.#allocate(other.#low + begin, (end - begin) * columns);
    return empty;
  }

  /** The sums of several, with room for no more than they have. */
  static of(parts: readonly RangeSums[]): RangeSums {
    const used = parts.filter(({ range }) => range > 0);
    const columns = used[0] === undefined ? 1 : used[0].#columns;
    const all = new RangeSums(columns);
    if (used.length === 0) return all;
    const least = Math.min(...used.map(({ low }) => low));
    const end = Math.max(...used.map(({ low, range }) => low + range));
    all.#allocate(least, (end - least) * columns);
    const sums = all.values;
    for (const { low, values } of used) {
      const shift = (low - least) * columns;
      for (let i = 0; i < values.length; i++) {
        sums[i + shift] = (sums[i + shift] as number) + (values[i] as number);
      }
    }
    return all;
  }

  /** Where the sums of an index lie in `StateMemory`, for which there is room from now on. */
  offsetOf(index: number): number {
    const place = (index - this.#low) * this.#columns;
    if (place >= 0 && place < this.#length) return this.offset + place;
    this.#makeRoomFor(index);
    return this.offset + (index - this.#low) * this.#columns;
  }

  /** Adds an amount to the first sum of each of some indices. */
  addAll(indices: readonly number[], amounts: readonly number[]): void {
    const columns = this.#columns;
    let all = memory.doubles;
    let [at, low] = [this.offset, this.#low];
    for (let i = 0; i < indices.length; i++) {
      const index = indices[i] as number;
      let place = (index - low) * columns;
      if (place < 0 || place >= this.#length) {
        this.#makeRoomFor(index);
        all = memory.doubles;
        at = this.offset;
        low = this.#low;
        place = (index - low) * columns;
      }
      all[at + place] = (all[at + place] as number) + (amounts[i] as number);
    }
  }

  /** Nobody asks for its sums any more: others may have their room. */
  release(): void {
    if (this.#allocation !== undefined) this.#scope.release(this.#allocation);
    this.#allocation = undefined;
    this.#length = 0;
  }

  serialize(state: StateArchive): void {
    state.section('range sums', 1, () => {
      const low = state.number(this.#low);
      const sums = state.numbers(this.values);
      if (this.#length === 0 && sums.length > 0) this.#allocate(low, sums.length);
      this.#low = low;
      this.values.set(sums);
    });
  }

  #makeRoomFor(index: number): void {
    const columns = this.#columns;
    const length = this.range;
    const isEmpty = length === 0;
    const end = this.#low + length;
    const room = Math.max(LEAST_ROOM, length >>> 1);
    const low = isEmpty || index < this.#low ? index - room : this.#low;
    const high = isEmpty || index >= end ? index + room : end - 1;
    const [before, beforeLow, beforeLength] = [this.#allocation, this.#low, this.#length];
    this.#allocate(low, (high - low + 1) * columns);
    if (before === undefined) return;
    const shift = (beforeLow - low) * columns;
    memory.doubles.copyWithin(this.offset + shift, before.offset, before.offset + beforeLength);
    this.#scope.release(before);
  }

  #allocate(low: number, length: number): void {
    this.#low = low;
    this.#length = length;
    this.#allocation = this.#scope.allocate(length);
  }
}
