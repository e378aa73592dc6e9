import { grown } from '../base/grown.ts';

/**
 * Rows of a chunk: one per cell and stage, in order of first sight, with the requests that failed. Dense in
 * stages, as cells have nearly all of them.
 */
export class RowTable {
  #stride = 16;
  /** Row + 1 by cell and stage, or 0. */
  #rowOf = new Int32Array(64 * 16);
  #cells = new Int32Array(256);
  #stageIds = new Int32Array(256);
  #columns = new Int32Array(256);
  /** Rows of each cell. */
  #rowsOfCell = new Int32Array(64);
  /** Per row: errors, timeouts, cancelled. */
  #statusCounts: Float64Array<ArrayBuffer> = new Float64Array(256 * 3);
  #size = 0;
  #cellEnd = 0;

  get size(): number {
    return this.#size;
  }

  /** Row of a cell's stage, or -1. */
  find(cell: number, stageId: number): number {
    if (stageId >= this.#stride || cell >= this.#cellEnd) return -1;
    return (this.#rowOf[cell * this.#stride + stageId] as number) - 1;
  }

  /** Adds the row of a new stage of a cell. */
  add(cell: number, stageId: number): number {
    if (stageId >= this.#stride) this.#widen(stageId);
    if (cell >= this.#cellEnd) this.#cellEnd = cell + 1;
    if (cell >= this.#rowsOfCell.length) this.#rowsOfCell = grown(this.#rowsOfCell, cell + 1);
    if (this.#cellEnd * this.#stride > this.#rowOf.length) {
      this.#rowOf = grown(this.#rowOf, this.#cellEnd * this.#stride);
    }
    const row = this.#size++;
    if (row >= this.#cells.length) {
      this.#cells = grown(this.#cells, row + 1);
      this.#stageIds = grown(this.#stageIds, row + 1);
      this.#columns = grown(this.#columns, row + 1);
      this.#statusCounts = grown(this.#statusCounts, this.#cells.length * 3);
    }
    this.#cells[row] = cell;
    this.#stageIds[row] = stageId;
    const column = (this.#rowsOfCell[cell] as number) + 1;
    this.#rowsOfCell[cell] = column;
    this.#columns[row] = column;
    this.#rowOf[cell * this.#stride + stageId] = row + 1;
    return row;
  }

  cell(row: number): number {
    return this.#cells[row] as number;
  }

  stageId(row: number): number {
    return this.#stageIds[row] as number;
  }

  /** Number of a row among its cell's, from 1 on: its column in the cell's bands. */
  column(row: number): number {
    return this.#columns[row] as number;
  }

  /** Counts requests by their `status` (an index into `statuses`, not 0). */
  countStatus(row: number, status: number, requests: number): void {
    const index = row * 3 + status - 1;
    this.#statusCounts[index] = (this.#statusCounts[index] as number) + requests;
  }

  /** Requests of a row by their `status` (not 0). */
  statusCount(row: number, status: number): number {
    return this.#statusCounts[row * 3 + status - 1] as number;
  }

  reset(): void {
    this.#rowOf.fill(0, 0, this.#cellEnd * this.#stride);
    this.#statusCounts.fill(0, 0, this.#size * 3);
    this.#rowsOfCell.fill(0, 0, this.#cellEnd);
    this.#size = 0;
    this.#cellEnd = 0;
  }

  #widen(stageId: number): void {
    let stride = this.#stride;
    while (stride <= stageId) stride *= 2;
    const rowOf = new Int32Array(Math.max(this.#cellEnd, 64) * stride);
    for (let cell = 0; cell < this.#cellEnd; cell++) {
      const from = cell * this.#stride;
      rowOf.set(this.#rowOf.subarray(from, from + this.#stride), cell * stride);
    }
    this.#stride = stride;
    this.#rowOf = rowOf;
  }
}
