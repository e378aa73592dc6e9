import { kindOfName, requestOrder } from '../base/dimensions.ts';
import { grown } from '../base/grown.ts';
import { statuses } from '../base/statuses.ts';
import type { DecodedEvent } from '../decode/decoded-event.ts';
import type { Interner } from '../decode/interner.ts';
import { StageTags } from '../decode/stage-tags.ts';
import { SketchPool } from '../sketch/sketch-pool.ts';

const firstGivenUp = statuses.indexOf('timeout');

/** Tags of stages: none of what is no part, 1 of a part of another name, and from 2 on the place of a known part. */
const notPart = 0;
const unplaced = 1;
const firstPlace = 2;

/** Reports whether a request was given up (timeout, cancelled): it would have lasted longer. */
export function isGivenUp(status: number): boolean {
  return status >= firstGivenUp;
}

/**
 * The censored durations of rows, beside all of them: of requests that timed out or were cancelled. A row has a
 * sketch of them once it has one. Cost: nothing of a chunk without such requests but a comparison an event.
 */
export class CensoredDurations {
  readonly #parts: StageTags;
  readonly #sketches = new SketchPool();
  /** Slot + 1 of each row, or 0. */
  #slots = new Int32Array(256);
  #rowEnd = 0;

  /** @param stages interner of the events' stages. */
  constructor(stages: Interner) {
    this.#parts = new StageTags(stages, tagOf);
  }

  get bytes(): number {
    return this.#sketches.bytes;
  }

  /**
   * Index of the part in which a request was given up: the last one in the order of a request (`inRequestOrder`).
   * Parts before it, milestones and measures had ended. -1 where the event has no part.
   */
  lastPart({ stageIds, stageCount }: DecodedEvent): number {
    this.#parts.hasAny();
    let last = -1;
    let lastPlace = 0;
    let place = unplaced;
    for (let i = 0; i < stageCount; i++) {
      const tag = this.#parts.of(stageIds[i] as number);
      if (tag === notPart) continue;
      if (tag >= firstPlace) place = tag;
      if (place < lastPlace) continue;
      lastPlace = place;
      last = i;
    }
    return last;
  }

  /** Adds a duration of a row so many times. */
  add(row: number, ms: number, times: number): void {
    if (row >= this.#slots.length) this.#slots = grown(this.#slots, row + 1);
    if (row >= this.#rowEnd) this.#rowEnd = row + 1;
    if (this.#slots[row] === 0) this.#slots[row] = this.#sketches.allocate() + 1;
    this.#sketches.addMany((this.#slots[row] as number) - 1, ms, times);
  }

  requests(row: number): number {
    const slot = this.#slotOf(row);
    return slot < 0 ? 0 : this.#sketches.requests(slot);
  }

  /** As `SketchPool.spikes`; of a row without censored durations there are none. */
  centroids(row: number, means: Float64Array, weights: Float64Array, phase = 1): number {
    const slot = this.#slotOf(row);
    return slot < 0 ? 0 : this.#sketches.spikes(slot, means, weights, phase);
  }

  /** As `SketchPool.centroidsWithout` for the other durations of a row with censored ones, whose sketch is in `all`. */
  ended(
    row: number,
    all: SketchPool,
    means: Float64Array,
    weights: Float64Array,
    phase = 1,
  ): number {
    const slot = this.#slotOf(row);
    return all.centroidsWithout(row, this.#sketches, slot, means, weights, phase);
  }

  reset(): void {
    this.#slots.fill(0, 0, this.#rowEnd);
    this.#rowEnd = 0;
    this.#sketches.reset();
  }

  #slotOf(row: number): number {
    return row < this.#rowEnd ? (this.#slots[row] as number) - 1 : -1;
  }
}

function tagOf(name: string): number {
  if (kindOfName(name) !== 'part') return notPart;
  const place = requestOrder.indexOf(name);
  return place < 0 ? unplaced : firstPlace + place;
}
