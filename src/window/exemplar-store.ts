import { dimensions, tokenSizes } from '../base/dimensions.ts';
import { amountFacets } from '../base/facets.ts';
import { limits } from '../base/limits.ts';
import { statuses } from '../base/statuses.ts';
import type { DecodedEvent } from '../decode/decoded-event.ts';
import { Interner } from '../decode/interner.ts';

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

const tokens = [
  [tokenSizes.input, amountFacets.indexOf('input_tokens')],
  [tokenSizes.output, amountFacets.indexOf('output_tokens')],
] as const;

const modelIndex = dimensions.indexOf('model');

interface Candidate {
  readonly exemplar: Exemplar;
  /** Its total as a multiple of the mean of its model so far. */
  readonly slowness: number;
  /** Slower ones of its cell have taken its place. */
  isDisplaced: boolean;
}

interface WindowCandidates {
  /** Up to twice as many as stay. */
  all: Candidate[];
  /** Slowness to exceed; -1 at first. */
  floor: number;
}

interface ModelSum {
  requests: number;
  ms: number;
}

const errorStatus = statuses.indexOf('error');
const timeoutStatus = statuses.indexOf('timeout');

/**
 * Slowest requests of a chunk: of each cell (a series in a window) the slowest three, and the
 * slowest one that failed. A time-out is as long as its limit: a few of them would take the places
 * of requests that say what is slow. Of each window the 1,000 that are slowest for their model. So
 * they stay few where thousands of series have a few requests each.
 *
 * Most offers cost one comparison or two. An accepted one allocates, some k·ln(n/k) times in n requests.
 */
export class ExemplarStore {
  /** Total to exceed in each group, the answered and the failed requests of a cell; -1 until it is full. */
  #floorMs = new Float64Array(256).fill(-1);
  #byGroup: Candidate[][] = [];
  readonly #byWindow = new Map<number, WindowCandidates>();
  /** By model. */
  #sums: ModelSum[] = [];
  readonly #stages: Interner;

  /** @param stages interner of the events' stages; tokens of kept requests stand among these. */
  constructor(stages: Interner) {
    this.#stages = stages;
  }

  /** Keeps a request with a total if it is among the slowest. */
  offer(cell: number, window: number, event: DecodedEvent, hostId: number): void {
    const { totalMs } = event;
    const sum = this.#count(event.dimensionIds[modelIndex] as number, totalMs);
    const group = groupOf(cell, event.status);
    if (group >= this.#floorMs.length) this.#grow(group);
    if (totalMs <= (this.#floorMs[group] as number)) return;
    const candidates = this.#candidatesOf(window);
    const slowness = sum.ms === 0 ? 1 : (totalMs * sum.requests) / sum.ms;
    if (slowness <= candidates.floor) return;
    const exemplar = this.#exemplarOf(cell, event, hostId);
    const candidate = { exemplar, slowness, isDisplaced: false };
    this.#addToGroup(candidate, group);
    candidates.all.push(candidate);
    if (candidates.all.length >= 2 * limits.exemplarsOfWindow) this.#select(candidates);
  }

  /** Exemplars, cell by cell: the slowest first, then one that failed. */
  *all(): Generator<Exemplar> {
    for (const candidates of this.#byWindow.values()) this.#select(candidates);
    for (const kept of this.#byGroup) for (const { exemplar } of kept ?? []) yield exemplar;
  }

  reset(): void {
    this.#floorMs.fill(-1);
    this.#byGroup = [];
    this.#byWindow.clear();
    this.#sums = [];
  }

  /** Counts a request of a model; returns all of the model so far. */
  #count(modelId: number, totalMs: number): ModelSum {
    this.#sums[modelId] ??= { requests: 0, ms: 0 };
    const sum = this.#sums[modelId];
    sum.requests++;
    sum.ms += totalMs;
    return sum;
  }

  /** Adds a request to its group, slowest first, in the place of the fastest one. */
  #addToGroup(candidate: Candidate, group: number): void {
    const { totalMs, status } = candidate.exemplar;
    const places = isFailed(status) ? limits.failedExemplarsPerSeries : limits.exemplarsPerSeries;
    this.#byGroup[group] ??= [];
    const kept = this.#byGroup[group];
    const displaced = kept.length === places ? kept.pop() : undefined;
    if (displaced !== undefined) displaced.isDisplaced = true;
    let position = kept.length;
    while (position > 0 && (kept[position - 1] as Candidate).exemplar.totalMs < totalMs) position--;
    kept.splice(position, 0, candidate);
    const isFull = kept.length === places;
    this.#floorMs[group] = isFull ? (kept.at(-1) as Candidate).exemplar.totalMs : -1;
  }

  /** Keeps those of a window that are slowest for their model. */
  #select(candidates: WindowCandidates): void {
    const live = candidates.all.filter(({ isDisplaced }) => !isDisplaced);
    candidates.all = live;
    if (live.length <= limits.exemplarsOfWindow) return;
    live.sort((a, b) => b.slowness - a.slowness);
    for (const dropped of live.splice(limits.exemplarsOfWindow)) {
      const { cell, status } = dropped.exemplar;
      const group = groupOf(cell, status);
      const kept = this.#byGroup[group] as Candidate[];
      kept.splice(kept.indexOf(dropped), 1);
      this.#floorMs[group] = -1;
    }
    candidates.floor = (live.at(-1) as Candidate).slowness;
  }

  #exemplarOf(cell: number, event: DecodedEvent, hostId: number): Exemplar {
    const exemplar = {
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
    for (const [name, index] of tokens) {
      const amount = event.amounts[index] as number;
      if (Number.isNaN(amount)) continue;
      const id = this.#stages.internText(name);
      if (id === Interner.otherId) continue;
      exemplar.stageIds.push(id);
      exemplar.stageMs.push(amount);
    }
    return exemplar;
  }

  #candidatesOf(window: number): WindowCandidates {
    const known = this.#byWindow.get(window);
    if (known !== undefined) return known;
    const added = { all: [], floor: -1 };
    this.#byWindow.set(window, added);
    return added;
  }

  #grow(group: number): void {
    const floorMs = new Float64Array(Math.max(group + 1, this.#floorMs.length * 2)).fill(-1);
    floorMs.set(this.#floorMs);
    this.#floorMs = floorMs;
  }
}

function isFailed(status: number): boolean {
  return status === errorStatus || status === timeoutStatus;
}

/** Two groups a cell, side by side. */
function groupOf(cell: number, status: number): number {
  return 2 * cell + (isFailed(status) ? 1 : 0);
}
