import { grown } from '../base/grown.ts';
import { invariant } from '../base/invariant.ts';
import { bandRange } from '../sketch/band.ts';
import {
  type CountHost,
  CountKernel,
  kernelBytes,
  kernelColumns,
  kernelPageBands,
  kernelStages,
  kernelOffsets as offsets,
  refusingHost,
} from '../sketch/count-kernel.ts';
import { IntTable } from './int-table.ts';

/**
 * Sums by cell, band and column; a column is a stage. A request adds to all stages of its band at once: they
 * are adjacent.
 *
 *     cell ──> block: an address for each of 13 pages ──> page of 16 bands ──> vector of 16 sums
 *     (cell, columns from 16 on) ──> blocks of their own
 *
 * The kernel begins at a cell's block (`CountKernel.count`), which also has the slots of stages.
 *
 * Memory: 132 bytes a cell, 64 for each four octaves of its requests, and 128 for each band. `reset` gives
 * it back to the kernel.
 */
export class CellBands {
  readonly #kernel = CountKernel.shared();
  readonly #arena = this.#kernel.arena();
  /** Address of each cell's block; 0 if there is none. */
  #blocks = new Int32Array(64);
  #cellEnd = 0;
  /** Records of further columns, by cell and column / 16. */
  readonly #further = new IntTable(2);
  #furtherBlocks = new Int32Array(16);
  readonly #key = new Int32Array(2);
  #size = 0;
  readonly #host: CountHost = {
    ...refusingHost,
    vectorOf: (block, band) => this.vectorOf(block, band),
  };

  get size(): number {
    return this.#size;
  }

  /** Bytes of the kernel's memory in use, in whole blocks. */
  get bytes(): number {
    return this.#arena.bytes;
  }

  /** Address of a cell's block, which is allocated on first use. */
  blockOf(cell: number): number {
    const known = this.#blocks[cell];
    return known !== undefined && known !== 0 ? known : this.#newRecord(cell);
  }

  cellOf(block: number): number {
    return this.#kernel.ints[(block + offsets.cell) >>> 2] as number;
  }

  /** Allocates the vector of a band of a block. */
  vectorOf(block: number, band: number): number {
    const vector = this.#arena.allocateZeroed(kernelBytes.vector);
    const entry = ((block + offsets.bands) >>> 2) + Math.floor(band / kernelPageBands);
    let page = this.#kernel.ints[entry] as number;
    if (page === 0) {
      page = this.#arena.allocateZeroed(kernelBytes.bands);
      this.#kernel.ints[entry] = page;
    }
    this.#kernel.ints[(page >>> 2) + (band % kernelPageBands)] = vector;
    this.#size += 1;
    return vector;
  }

  /** Stores the slot of a block's stage, where the block or its table has a place for it. */
  setSlot(block: number, stageId: number, slot: number): void {
    const { inBlock, inTable } = kernelStages;
    if (stageId >= inBlock + inTable) return;
    if (stageId < inBlock) {
      this.#kernel.ints[(block >>> 2) + stageId] = slot;
      return;
    }
    const entry = (block + offsets.stages) >>> 2;
    let table = this.#kernel.ints[entry] as number;
    if (table === 0) {
      table = this.#arena.allocateZeroed(kernelBytes.stages);
      this.#kernel.ints[entry] = table;
    }
    this.#kernel.ints[(table >>> 2) + stageId - inBlock] = slot;
  }

  /** Adds `amount` (requests, or milliseconds). */
  add(cell: number, band: number, column: number, amount: number): void {
    const index = band - bandRange.lowest;
    invariant(cell >= 0 && index >= 0 && index < bandRange.count, 'no such band');
    const block = column < kernelColumns ? this.blockOf(cell) : this.#furtherOf(cell, column);
    this.#kernel.addToBand(this.#host, block, index, column & (kernelColumns - 1), amount);
  }

  /**
   * Writes the bands of a cell's column with their sums, ascending, and returns their number; sums of 0 are
   * left out. Both arrays need room for `bandRange.count` (208).
   */
  read(cell: number, column: number, bands: Int16Array, amounts: Float64Array): number {
    const block = this.#find(cell, column);
    if (block === 0) return 0;
    const { ints, doubles } = this.#kernel;
    const pages = (block + offsets.bands) >>> 2;
    const offset = column & (kernelColumns - 1);
    let n = 0;
    for (let first = 0; first < bandRange.count; first += kernelPageBands) {
      const page = (ints[pages + first / kernelPageBands] as number) >>> 2;
      if (page === 0) continue;
      for (let i = 0; i < kernelPageBands; i++) {
        const vector = ints[page + i] as number;
        if (vector === 0) continue;
        const amount = doubles[(vector >>> 3) + offset] as number;
        if (amount === 0) continue;
        bands[n] = first + i + bandRange.lowest;
        amounts[n++] = amount;
      }
    }
    return n;
  }

  /** Forgets all cells. */
  reset(): void {
    this.#blocks.fill(0, 0, this.#cellEnd);
    this.#cellEnd = 0;
    this.#further.clear();
    this.#arena.reset();
    this.#size = 0;
  }

  /** Record of a cell's column, or 0. */
  #find(cell: number, column: number): number {
    if (column < kernelColumns) return this.#blocks[cell] ?? 0;
    this.#key[0] = cell;
    this.#key[1] = Math.floor(column / kernelColumns);
    const known = this.#further.find(this.#key);
    return known < 0 ? 0 : (this.#furtherBlocks[known] as number);
  }

  #newRecord(cell: number): number {
    if (cell >= this.#blocks.length) this.#blocks = grown(this.#blocks, cell + 1);
    if (cell >= this.#cellEnd) this.#cellEnd = cell + 1;
    const block = this.#emptyBlock(cell);
    this.#blocks[cell] = block;
    return block;
  }

  #furtherOf(cell: number, column: number): number {
    const known = this.#find(cell, column);
    if (known !== 0) return known;
    const index = this.#further.add(this.#key);
    if (index === this.#furtherBlocks.length) {
      this.#furtherBlocks = grown(this.#furtherBlocks, index + 1);
    }
    const block = this.#emptyBlock(cell);
    this.#furtherBlocks[index] = block;
    return block;
  }

  #emptyBlock(cell: number): number {
    const block = this.#arena.allocateZeroed(kernelBytes.block);
    this.#kernel.ints[(block + offsets.cell) >>> 2] = cell;
    return block;
  }
}
