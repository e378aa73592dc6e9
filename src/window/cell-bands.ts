import { invariant } from '../base/invariant.ts';
import { bandRange } from '../sketch/band-range.ts';
import { grown } from './grown.ts';
import { IntTable } from './int-table.ts';

/** Columns of a vector: one cache line or two, in which all stages of a request lie. */
const columnBits = 4;
const columns = 1 << columnBits;
const slabBits = 10;
const vectorsPerSlab = 1 << slabBits;

/**
 * Sums by cell, band and column; a column is a stage. What a request adds to its band, it adds for
 * all its stages at once: they lie side by side.
 *
 *     (cell, band, 16 columns) ──> vector of 16 sums
 *     cell ──> its vectors, by ascending band, each pointing to the next
 *
 * Memory: 128 bytes, and 28 to 44 to find them, for each band that a cell's requests fall in.
 * Slabs are kept over `reset`, so that in the steady state nothing is allocated.
 */
export class CellBands {
  /** Key: the cell; its band with the upper bits of the column. */
  readonly #vectors = new IntTable(2);
  readonly #key = new Int32Array(2);
  readonly #slabs: Float64Array[] = [];
  /** By cell, its first vector + 1; by vector, the next of the cell + 1. 0 where there is none. */
  #first = new Int32Array(64);
  #next = new Int32Array(256);
  #cellEnd = 0;
  /** The vector found last, and where it lies, as stages of a request come one after the other. */
  #lastCell = -1;
  #lastPlace = -1;
  #lastSlab = new Float64Array(0);
  #lastFrom = 0;

  /** Vectors in use. */
  get size(): number {
    return this.#vectors.size;
  }

  /** Bytes held. */
  get bytes(): number {
    const { byteLength } = this.#next;
    const slabs = this.#slabs.length * vectorsPerSlab * columns * 8;
    return slabs + byteLength + this.#first.byteLength + this.#vectors.bytes;
  }

  /** Adds `amount` (requests, or milliseconds). Hot: nothing is allocated but for a new band. */
  add(cell: number, band: number, column: number, amount: number): void {
    const place = ((band - bandRange.lowest) << 8) | (column >>> columnBits);
    if (cell !== this.#lastCell || place !== this.#lastPlace) this.#find(cell, place);
    const slab = this.#lastSlab;
    const at = this.#lastFrom | (column & (columns - 1));
    slab[at] = (slab[at] as number) + amount;
  }

  /** Adds the first `count` amounts, each to its column: what one request was made of. */
  addAll(
    cell: number,
    band: number,
    toColumns: Int32Array,
    amounts: Float64Array,
    count: number,
  ): void {
    const place = (band - bandRange.lowest) << 8;
    if (cell !== this.#lastCell || place !== this.#lastPlace) this.#find(cell, place);
    const slab = this.#lastSlab;
    const from = this.#lastFrom;
    for (let i = 0; i < count; i++) {
      const column = toColumns[i] as number;
      const amount = amounts[i] as number;
      if (column < columns) slab[from | column] = (slab[from | column] as number) + amount;
      else this.add(cell, band, column, amount);
    }
  }

  /**
   * Writes a cell's bands of a column in ascending order, with their sums, and returns how many;
   * bands whose sum is 0 are left out. Both arrays need room for `bandRange.count` (208).
   */
  read(cell: number, column: number, bands: Int16Array, amounts: Float64Array): number {
    let n = 0;
    let next = cell < this.#cellEnd ? (this.#first[cell] as number) : 0;
    while (next !== 0) {
      const vector = next - 1;
      next = this.#next[vector] as number;
      const place = this.#vectors.part(vector, 1);
      if ((place & 0xff) !== column >>> columnBits) continue;
      const slab = this.#slabs[vector >>> slabBits] as Float64Array;
      const from = (vector & (vectorsPerSlab - 1)) << columnBits;
      const amount = slab[from | (column & (columns - 1))] as number;
      if (amount === 0) continue;
      bands[n] = (place >>> 8) + bandRange.lowest;
      amounts[n++] = amount;
    }
    return n;
  }

  /** Forgets all cells and keeps the memory. Vectors are zeroed when they are taken again. */
  reset(): void {
    this.#vectors.clear();
    this.#first.fill(0, 0, this.#cellEnd);
    this.#cellEnd = 0;
    this.#lastCell = -1;
  }

  #find(cell: number, place: number): void {
    this.#key[0] = cell;
    this.#key[1] = place;
    const known = this.#vectors.find(this.#key);
    const vector = known >= 0 ? known : this.#take(cell, place);
    this.#lastSlab = this.#slabs[vector >>> slabBits] as Float64Array<ArrayBuffer>;
    this.#lastFrom = (vector & (vectorsPerSlab - 1)) << columnBits;
    this.#lastCell = cell;
    this.#lastPlace = place;
  }

  #take(cell: number, place: number): number {
    const index = place >>> 8;
    invariant(cell >= 0 && index >= 0 && index < bandRange.count, 'no such band');
    const vector = this.#vectors.add(this.#key);
    const slab = vector >>> slabBits;
    if (slab === this.#slabs.length) this.#slabs.push(new Float64Array(vectorsPerSlab * columns));
    const from = (vector & (vectorsPerSlab - 1)) << columnBits;
    (this.#slabs[slab] as Float64Array).fill(0, from, from + columns);
    this.#link(cell, place, vector);
    return vector;
  }

  /** Puts a vector among those of its cell, which are few. */
  #link(cell: number, place: number, vector: number): void {
    if (cell >= this.#first.length) this.#first = grown(this.#first, cell + 1);
    if (vector >= this.#next.length) this.#next = grown(this.#next, vector + 1);
    if (cell >= this.#cellEnd) this.#cellEnd = cell + 1;
    const next = this.#next;
    let before = 0;
    let after = this.#first[cell] as number;
    while (after !== 0 && this.#vectors.part(after - 1, 1) < place) {
      before = after;
      after = next[after - 1] as number;
    }
    next[vector] = after;
    if (before === 0) this.#first[cell] = vector + 1;
    else next[before - 1] = vector + 1;
  }
}
