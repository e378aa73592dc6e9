import { grown } from '../base/grown.ts';
import { invariant } from '../base/invariant.ts';
import { bandRange } from '../sketch/band-range.ts';
import {
  type CountHost,
  CountKernel,
  kernelBytes,
  kernelColumns,
  kernelOffsets as offsets,
} from '../sketch/count-kernel.ts';
import { IntTable } from './int-table.ts';

/**
 * Sums by cell, band and column; a column is a stage. What a request adds to its band, it adds for
 * all its stages at once: they lie side by side.
 *
 *     cell ──> record: an address for each of 208 bands ──> vector of 16 sums
 *     (cell, columns from 16 on) ──> records of their own
 *
 * A cell's record is where the kernel begins (`CountKernel.count`): it also has the slots of stages.
 *
 * Memory: 1,152 bytes a cell, and 128 for each band that its requests fall in. It is kept over `reset`, so
 * that in the steady state nothing is allocated.
 */
export class CellBands {
  readonly #kernel = CountKernel.shared();
  readonly #arena = this.#kernel.arena();
  /** By cell, the address of its record; 0 where there is none. */
  #records = new Int32Array(64);
  #cellEnd = 0;
  /** Records of further columns. Key: the cell, and its columns by 16. */
  readonly #further = new IntTable(2);
  #furtherRecords = new Int32Array(16);
  readonly #key = new Int32Array(2);
  #size = 0;
  readonly #host: CountHost = {
    take: noSketches,
    slotOf: noSketches,
    vectorOf: (record, band) => this.vectorOf(record, band),
    addFar: noSketches,
  };

  /** Vectors in use. */
  get size(): number {
    return this.#size;
  }

  /** Bytes held. */
  get bytes(): number {
    const own = this.#records.byteLength + this.#furtherRecords.byteLength;
    return this.#arena.bytes + own + this.#further.bytes;
  }

  /** The address of a cell's record, which is made by need. */
  recordOf(cell: number): number {
    const known = this.#records[cell];
    return known !== undefined && known !== 0 ? known : this.#newRecord(cell);
  }

  /** The cell of a record. */
  cellOf(record: number): number {
    return this.#kernel.ints[(record + offsets.cell) >>> 2] as number;
  }

  /** Makes a vector for a band of a record. */
  vectorOf(record: number, band: number): number {
    const vector = this.#arena.takeZeroed(kernelBytes.vector);
    this.#kernel.ints[((record + offsets.vectors) >>> 2) + band] = vector;
    this.#size += 1;
    return vector;
  }

  /** Adds `amount` (requests, or milliseconds). */
  add(cell: number, band: number, column: number, amount: number): void {
    const index = band - bandRange.lowest;
    invariant(cell >= 0 && index >= 0 && index < bandRange.count, 'no such band');
    const record = column < kernelColumns ? this.recordOf(cell) : this.#furtherOf(cell, column);
    this.#kernel.addToBand(this.#host, record, index, column & (kernelColumns - 1), amount);
  }

  /**
   * Writes a cell's bands of a column in ascending order, with their sums, and returns how many;
   * bands whose sum is 0 are left out. Both arrays need room for `bandRange.count` (208).
   */
  read(cell: number, column: number, bands: Int16Array, amounts: Float64Array): number {
    const record = this.#find(cell, column);
    if (record === 0) return 0;
    const { ints, doubles } = this.#kernel;
    const vectors = (record + offsets.vectors) >>> 2;
    const place = column & (kernelColumns - 1);
    let n = 0;
    for (let index = 0; index < bandRange.count; index++) {
      const vector = ints[vectors + index] as number;
      if (vector === 0) continue;
      const amount = doubles[(vector >>> 3) + place] as number;
      if (amount === 0) continue;
      bands[n] = index + bandRange.lowest;
      amounts[n++] = amount;
    }
    return n;
  }

  /** Forgets all cells and keeps the memory. */
  reset(): void {
    this.#records.fill(0, 0, this.#cellEnd);
    this.#cellEnd = 0;
    this.#further.clear();
    this.#arena.reset();
    this.#size = 0;
  }

  /** The record of a cell's column, 0 where there is none. */
  #find(cell: number, column: number): number {
    if (column < kernelColumns) return this.#records[cell] ?? 0;
    this.#key[0] = cell;
    this.#key[1] = Math.floor(column / kernelColumns);
    const known = this.#further.find(this.#key);
    return known < 0 ? 0 : (this.#furtherRecords[known] as number);
  }

  #newRecord(cell: number): number {
    if (cell >= this.#records.length) this.#records = grown(this.#records, cell + 1);
    if (cell >= this.#cellEnd) this.#cellEnd = cell + 1;
    const record = this.#emptyRecord(cell);
    this.#records[cell] = record;
    return record;
  }

  #furtherOf(cell: number, column: number): number {
    const known = this.#find(cell, column);
    if (known !== 0) return known;
    const index = this.#further.add(this.#key);
    if (index === this.#furtherRecords.length) {
      this.#furtherRecords = grown(this.#furtherRecords, index + 1);
    }
    const record = this.#emptyRecord(cell);
    this.#furtherRecords[index] = record;
    return record;
  }

  #emptyRecord(cell: number): number {
    const record = this.#arena.takeZeroed(kernelBytes.record);
    this.#kernel.ints[(record + offsets.cell) >>> 2] = cell;
    return record;
  }
}

function noSketches(): never {
  invariant(false, 'a table of bands was asked for a sketch');
}
