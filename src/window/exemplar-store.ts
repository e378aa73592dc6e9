import { limits } from '../base/limits.ts';
import type { EventRecord } from '../decode/event-record.ts';

/** A slow request, kept whole. */
export interface Exemplar {
  readonly cell: number;
  readonly tsMs: number;
  readonly status: number;
  readonly totalMs: number;
  readonly hostId: number;
  readonly traceId: string;
  readonly requestId: string;
  readonly stageIds: readonly number[];
  readonly stageMs: readonly number[];
}

/**
 * The slowest few requests of each cell (a series in a window). Most offers cost one comparison;
 * an accepted one allocates, which happens about k·ln(n/k) times in n requests of a cell.
 */
export class ExemplarStore {
  readonly #perCell = limits.exemplarsPerWindow;
  /** Per cell: the total to beat, -1 while the cell has room. */
  #floorMs = new Float64Array(256).fill(-1);
  #byCell: Exemplar[][] = [];

  /** Offers a request whose total is known. */
  offer(cell: number, record: EventRecord, hostId: number): void {
    if (cell >= this.#floorMs.length) this.#grow(cell);
    if (record.totalMs <= (this.#floorMs[cell] as number)) return;
    let kept = this.#byCell[cell];
    if (kept === undefined) {
      kept = [];
      this.#byCell[cell] = kept;
    }
    if (kept.length === this.#perCell) kept.pop();
    const exemplar = copyOf(cell, record, hostId);
    let at = kept.length;
    while (at > 0 && (kept[at - 1] as Exemplar).totalMs < exemplar.totalMs) at--;
    kept.splice(at, 0, exemplar);
    if (kept.length === this.#perCell) {
      this.#floorMs[cell] = (kept[kept.length - 1] as Exemplar).totalMs;
    }
  }

  /** All kept requests, cell by cell, slowest first. */
  *all(): Generator<Exemplar> {
    for (const kept of this.#byCell) if (kept !== undefined) yield* kept;
  }

  reset(): void {
    this.#floorMs.fill(-1);
    this.#byCell = [];
  }

  #grow(cell: number): void {
    const floorMs = new Float64Array(Math.max(cell + 1, this.#floorMs.length * 2)).fill(-1);
    floorMs.set(this.#floorMs);
    this.#floorMs = floorMs;
  }
}

function copyOf(cell: number, record: EventRecord, hostId: number): Exemplar {
  return {
    cell,
    tsMs: record.tsMs,
    status: record.status,
    totalMs: record.totalMs,
    hostId,
    traceId: record.traceId(),
    requestId: record.requestId(),
    stageIds: [...record.stageIds.subarray(0, record.stageCount)],
    stageMs: [...record.stageMs.subarray(0, record.stageCount)],
  };
}
