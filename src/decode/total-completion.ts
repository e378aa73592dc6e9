import { isMilestoneName } from '../base/dimensions.ts';
import { grown } from '../base/grown.ts';
import type { DecodedEvent } from './decoded-event.ts';
import type { Interner } from './interner.ts';

const PART = 1;
const MILESTONE = 2;

/**
 * Completes events without a total: it is the sum of the stages that are parts, unless there is none or the
 * event is partial. Remembers which stages are milestones by their ids: a look-up each, and no allocation.
 */
export class TotalCompletion {
  readonly #stages: Interner;
  #generation = -1;
  #kinds = new Int32Array(64);

  constructor(stages: Interner) {
    this.#stages = stages;
  }

  /** Sets `totalMs`, or else `leastMs`, of an event whose stages have their ids. */
  complete(event: DecodedEvent, isPartial: boolean): void {
    if (!Number.isNaN(event.totalMs)) return;
    if (this.#generation !== this.#stages.generation) {
      this.#generation = this.#stages.generation;
      this.#kinds.fill(0);
    }
    let partsMs = 0;
    let parts = 0;
    let latestMs = 0;
    for (let i = 0; i < event.stageCount; i++) {
      const ms = event.stageMs[i] as number;
      if (this.#kindOf(event.stageIds[i] as number) === MILESTONE) {
        latestMs = Math.max(latestMs, ms);
      } else {
        partsMs += ms;
        parts += 1;
      }
    }
    if (isPartial || parts === 0) event.leastMs = Math.max(partsMs, latestMs);
    else event.totalMs = partsMs;
  }

  #kindOf(id: number): number {
    const known = this.#kinds[id] ?? 0;
    if (known !== 0) return known;
    if (id >= this.#kinds.length) this.#kinds = grown(this.#kinds, id + 1);
    const kind = isMilestoneName(this.#stages.text(id)) ? MILESTONE : PART;
    this.#kinds[id] = kind;
    return kind;
  }
}
