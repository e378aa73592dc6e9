import { dimensions } from '../base/dimensions.ts';
import { limits } from '../base/limits.ts';
import type { DecodedEvent } from '../decode/decoded-event.ts';
import { IntTable } from './int-table.ts';

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

const modelIndex = dimensions.indexOf('model');

/**
 * Slowest requests of a chunk: of each cell (a series in a window) the slowest three, and of each model in a
 * window the slowest 64. So they stay few where thousands of series have a few requests each.
 *
 * Most offers cost one comparison or two. An accepted one allocates, some k·ln(n/k) times in n requests.
 */
export class ExemplarStore {
  /** Total to exceed in each cell; -1 until the cell is full. */
  #floorMs = new Float64Array(256).fill(-1);
  #byCell: Exemplar[][] = [];
  /** Window and model. */
  readonly #groups = new IntTable(2);
  readonly #key = new Int32Array(2);
  /** As of cells. */
  readonly #groupFloorMs: number[] = [];
  #byGroup: Exemplar[][] = [];

  /** Keeps a request with a total if it is among the slowest. */
  offer(cell: number, window: number, event: DecodedEvent, hostId: number): void {
    const { totalMs } = event;
    if (cell >= this.#floorMs.length) this.#grow(cell);
    if (totalMs <= (this.#floorMs[cell] as number)) return;
    const group = this.#groupOf(window, event.dimensionIds[modelIndex] as number);
    if (totalMs <= (this.#groupFloorMs[group] as number)) return;
    const exemplar = exemplarOf(cell, event, hostId);
    const ofGroup = this.#byGroup[group] as Exemplar[];
    const displaced = this.#addToCell(exemplar);
    if (displaced !== undefined) ofGroup.splice(ofGroup.indexOf(displaced), 1);
    ofGroup.push(exemplar);
    if (ofGroup.length > limits.exemplarsPerModel) {
      const fastest = ofGroup.reduce((least, each) =>
        each.totalMs < least.totalMs ? each : least,
      );
      ofGroup.splice(ofGroup.indexOf(fastest), 1);
      this.#removeFromCell(fastest);
    }
    this.#groupFloorMs[group] = floorOf(ofGroup, limits.exemplarsPerModel);
  }

  /** Exemplars, cell by cell, slowest first. */
  *all(): Generator<Exemplar> {
    for (const kept of this.#byCell) if (kept !== undefined) yield* kept;
  }

  reset(): void {
    this.#floorMs.fill(-1);
    this.#byCell = [];
    this.#groups.clear();
    this.#byGroup = [];
  }

  /** Adds a request to its cell, slowest first; returns the one whose place it takes. */
  #addToCell(exemplar: Exemplar): Exemplar | undefined {
    const { cell, totalMs } = exemplar;
    this.#byCell[cell] ??= [];
    const kept = this.#byCell[cell];
    const displaced = kept.length === limits.exemplarsPerWindow ? kept.pop() : undefined;
    let position = kept.length;
    while (position > 0 && (kept[position - 1] as Exemplar).totalMs < totalMs) position--;
    kept.splice(position, 0, exemplar);
    this.#floorMs[cell] = floorOf(kept, limits.exemplarsPerWindow);
    return displaced;
  }

  #removeFromCell(exemplar: Exemplar): void {
    const kept = this.#byCell[exemplar.cell] as Exemplar[];
    kept.splice(kept.indexOf(exemplar), 1);
    this.#floorMs[exemplar.cell] = -1;
  }

  #groupOf(window: number, modelId: number): number {
    this.#key[0] = window;
    this.#key[1] = modelId;
    const known = this.#groups.find(this.#key);
    if (known >= 0) return known;
    const group = this.#groups.add(this.#key);
    this.#groupFloorMs[group] = -1;
    this.#byGroup[group] = [];
    return group;
  }

  #grow(cell: number): void {
    const floorMs = new Float64Array(Math.max(cell + 1, this.#floorMs.length * 2)).fill(-1);
    floorMs.set(this.#floorMs);
    this.#floorMs = floorMs;
  }
}

/** The least total of a full list; -1 before. */
function floorOf(kept: readonly Exemplar[], most: number): number {
  if (kept.length < most) return -1;
  return kept.reduce((least, { totalMs }) => Math.min(least, totalMs), Number.POSITIVE_INFINITY);
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
