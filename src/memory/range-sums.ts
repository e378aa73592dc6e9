import type { StateArchive } from '../snapshot/archive.ts';
import { type Allocation, Arena, type ArenaScope } from './arena.ts';

const memory = Arena.shared();

/** Indices that are allocated beyond the one needed: at least these, of a wide range half of its length. */
const MIN_MARGIN = 8;

/**
 * Sums by integer index, in one or several columns, dense over the range in use: for histograms of a narrow
 * range.
 *
 * Memory: 8 bytes a sum of the range, in the arena.
 */
export class RangeSums {
  readonly #columns: number;
  readonly #scope: ArenaScope;
  #allocation: Allocation | undefined;
  #low = 0;
  #length = 0;

  /** @param columns sums of each index, side by side. */
  constructor(columns = 1, scope = memory.scope()) {
    this.#columns = columns;
    this.#scope = scope;
  }

  /** Index of the first of `values`. */
  get low(): number {
    return this.#low;
  }

  /** Indices that are allocated. */
  get range(): number {
    return this.#length / this.#columns;
  }

  /** Offset of the first sum in the arena. */
  get offset(): number {
    return this.#allocation?.offset ?? 0;
  }

  /** The sums from `low` on: a view, valid until the arena grows. */
  get values(): Float64Array {
    return memory.doubles.subarray(this.offset, this.offset + this.#length);
  }

  /** Returns empty sums over the range that `other` uses, and a margin. */
  static like(other: RangeSums): RangeSums {
    const columns = other.#columns;
    const empty = new RangeSums(columns, other.#scope);
    const doubles = memory.doubles;
    const { offset } = other;
    let first = 0;
    let last = other.#length - 1;
    while (first <= last && doubles[offset + first] === 0) first++;
    if (first > last) return empty;
    while (doubles[offset + last] === 0) last--;
    const begin = Math.floor(first / columns) - MIN_MARGIN;
    const end = Math.floor(last / columns) + 1 + MIN_MARGIN;
    empty.#allocate(other.#low + begin, (end - begin) * columns);
    return empty;
  }

  /** Offset of an index' sums in the arena. Extends the range to that index. */
  offsetOf(index: number): number {
    const relative = (index - this.#low) * this.#columns;
    if (relative >= 0 && relative < this.#length) return this.offset + relative;
    this.#extendTo(index);
    return this.offset + (index - this.#low) * this.#columns;
  }

  /** Adds an amount to the first sum of each of some indices. */
  addAll(indices: readonly number[], amounts: readonly number[]): void {
    const columns = this.#columns;
    let doubles = memory.doubles;
    let [offset, low] = [this.offset, this.#low];
    for (let i = 0; i < indices.length; i++) {
      const index = indices[i] as number;
      let relative = (index - low) * columns;
      if (relative < 0 || relative >= this.#length) {
        this.#extendTo(index);
        doubles = memory.doubles;
        offset = this.offset;
        low = this.#low;
        relative = (index - low) * columns;
      }
      doubles[offset + relative] = (doubles[offset + relative] as number) + (amounts[i] as number);
    }
  }

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

  #extendTo(index: number): void {
    const columns = this.#columns;
    const length = this.range;
    const isEmpty = length === 0;
    const end = this.#low + length;
    const margin = Math.max(MIN_MARGIN, length >>> 1);
    const low = isEmpty || index < this.#low ? index - margin : this.#low;
    const high = isEmpty || index >= end ? index + margin : end - 1;
    const [former, formerLow, formerLength] = [this.#allocation, this.#low, this.#length];
    this.#allocate(low, (high - low + 1) * columns);
    if (former === undefined) return;
    const shift = (formerLow - low) * columns;
    memory.doubles.copyWithin(this.offset + shift, former.offset, former.offset + formerLength);
    this.#scope.release(former);
  }

  #allocate(low: number, length: number): void {
    this.#low = low;
    this.#length = length;
    this.#allocation = this.#scope.allocate(length);
  }
}
