import { dimensions } from '../base/dimensions.ts';
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

const modelIndex = dimensions.indexOf('model');

/** An exemplar, and its total as a multiple of the mean of its model so far. */
interface Ranked extends Exemplar {
  readonly slowness: number;
}

/** Exemplars of a window. */
interface WindowExemplars {
  readonly kept: Ranked[];
  /** Slowness to exceed; -1 until the window is full. */
  floor: number;
}

/**
 * Slowest requests of a chunk: of each cell (a series in a window) the slowest three, and of each window the
 * 1,000 that are slowest for their model. So they stay few where thousands of series have a few requests each.
 *
 * Most offers cost one comparison or two. An accepted one allocates, some k·ln(n/k) times in n requests.
 */
export class ExemplarStore {
  /** Total to exceed in each cell; -1 until the cell is full. */
  #floorMs = new Float64Array(256).fill(-1);
  #byCell: Ranked[][] = [];
  readonly #byWindow = new Map<number, WindowExemplars>();
  /** Requests and milliseconds, by model. */
  #sums: { requests: number; ms: number }[] = [];

  /** Keeps a request with a total if it is among the slowest. */
  offer(cell: number, window: number, event: DecodedEvent, hostId: number): void {
    const { totalMs } = event;
    const slowness = this.#slownessOf(event.dimensionIds[modelIndex] as number, totalMs);
    if (cell >= this.#floorMs.length) this.#grow(cell);
    if (totalMs <= (this.#floorMs[cell] as number)) return;
    const ofWindow = this.#windowOf(window);
    if (slowness <= ofWindow.floor) return;
    const { kept } = ofWindow;
    const exemplar = { ...exemplarOf(cell, event, hostId), slowness };
    const displaced = this.#addToCell(exemplar);
    if (displaced !== undefined) kept.splice(kept.indexOf(displaced), 1);
    kept.push(exemplar);
    const { exemplarsOfWindow } = limits;
    if (kept.length > exemplarsOfWindow) this.#removeFromCell(removeLeast(kept));
    ofWindow.floor = kept.length < exemplarsOfWindow ? -1 : leastOf(kept).slowness;
  }

  /** Exemplars, cell by cell, slowest first. */
  *all(): Generator<Exemplar> {
    for (const kept of this.#byCell) {
      for (const { slowness: _, ...exemplar } of kept ?? []) yield exemplar;
    }
  }

  reset(): void {
    this.#floorMs.fill(-1);
    this.#byCell = [];
    this.#byWindow.clear();
    this.#sums = [];
  }

  /** Counts a request; returns its total as a multiple of the mean of its model, this request included. */
  #slownessOf(modelId: number, totalMs: number): number {
    this.#sums[modelId] ??= { requests: 0, ms: 0 };
    const sum = this.#sums[modelId];
    sum.requests++;
    sum.ms += totalMs;
    return sum.ms === 0 ? 1 : (totalMs * sum.requests) / sum.ms;
  }

  /** Adds a request to its cell, slowest first; returns the one whose place it takes. */
  #addToCell(exemplar: Ranked): Ranked | undefined {
    const { cell, totalMs } = exemplar;
    this.#byCell[cell] ??= [];
    const kept = this.#byCell[cell];
    const displaced = kept.length === limits.exemplarsPerSeries ? kept.pop() : undefined;
    let position = kept.length;
    while (position > 0 && (kept[position - 1] as Exemplar).totalMs < totalMs) position--;
    kept.splice(position, 0, exemplar);
    const isFull = kept.length === limits.exemplarsPerSeries;
    this.#floorMs[cell] = isFull ? (kept.at(-1) as Exemplar).totalMs : -1;
    return displaced;
  }

  #removeFromCell(exemplar: Ranked): void {
    const kept = this.#byCell[exemplar.cell] as Ranked[];
    kept.splice(kept.indexOf(exemplar), 1);
    this.#floorMs[exemplar.cell] = -1;
  }

  #windowOf(window: number): WindowExemplars {
    const known = this.#byWindow.get(window);
    if (known !== undefined) return known;
    const added = { kept: [], floor: -1 };
    this.#byWindow.set(window, added);
    return added;
  }

  #grow(cell: number): void {
    const floorMs = new Float64Array(Math.max(cell + 1, this.#floorMs.length * 2)).fill(-1);
    floorMs.set(this.#floorMs);
    this.#floorMs = floorMs;
  }
}

function leastOf(kept: readonly Ranked[]): Ranked {
  return kept.reduce((least, each) => (each.slowness < least.slowness ? each : least));
}

function removeLeast(kept: Ranked[]): Ranked {
  const least = leastOf(kept);
  kept.splice(kept.indexOf(least), 1);
  return least;
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
