import { limits } from '../base/limits.ts';
import type { DecodedEvent } from '../decode/decoded-event.ts';

/** A slow request with all its stages. */
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
 * Slowest requests of each cell (a series in a window). Most offers cost one comparison; an accepted one
 * allocates, some k·ln(n/k) times in n requests of a cell.
 */
export class ExemplarStore {
  /** Total to exceed in each cell; -1 until the cell is full. */
  #floorMs = new Float64Array(256).fill(-1);
  #byCell: Exemplar[][] = [];

  /** Keeps a request with a total if it is among the slowest. */
  offer(cell: number, event: DecodedEvent, hostId: number): void {
    if (cell >= this.#floorMs.length) this.#grow(cell);
    if (event.totalMs <= (this.#floorMs[cell] as number)) return;
    this.#byCell[cell] ??= [];
    const kept = this.#byCell[cell];
    if (kept.length === limits.exemplarsPerWindow) kept.pop();
    const exemplar = exemplarOf(cell, event, hostId);
    let position = kept.length;
    while (position > 0 && (kept[position - 1] as Exemplar).totalMs < exemplar.totalMs) position--;
    kept.splice(position, 0, exemplar);
    if (kept.length === limits.exemplarsPerWindow) {
      this.#floorMs[cell] = (kept[kept.length - 1] as Exemplar).totalMs;
    }
  }

  /** Exemplars, cell by cell, slowest first. */
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

function exemplarOf(cell: number, event: DecodedEvent, hostId: number): Exemplar {
  return {
    cell,
    tsMs: event.tsMs,
    status: event.status,
    totalMs: event.totalMs,
    hostId,
    traceId: event.traceId(),
    requestId: event.requestId(),
    stageIds: [...event.stageIds.subarray(0, event.stageCount)],
    stageMs: [...event.stageMs.subarray(0, event.stageCount)],
  };
}
