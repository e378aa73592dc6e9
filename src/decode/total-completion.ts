import { isMilestoneName } from '../base/dimensions.ts';
import { grown } from '../base/grown.ts';
import type { DecodedEvent } from './decoded-event.ts';
import type { Interner } from './interner.ts';

/**
 * Completes events without a total: it is the sum of the stages that are parts, unless there is none or the
 * event is partial. Remembers which stages are milestones by their ids: a look-up each, and no allocation.
 */
export class TotalCompletion {
  readonly #stages: Interner;
  #generation = -1;
  /** Ids below this are known, 1 for a milestone. */
  #known = 0;
  #areMilestones = new Int32Array(64);
  #hasMilestones = false;

  constructor(stages: Interner) {
    this.#stages = stages;
  }

  /** Sets `totalMs`, or else `leastMs`, of an event whose stages have their ids. */
  complete(event: DecodedEvent, isPartial: boolean): void {
    if (!Number.isNaN(event.totalMs)) return;
    if (this.#generation !== this.#stages.generation || this.#known < this.#stages.size) {
      this.#learn();
    }
    const { stageIds, stageMs, stageCount } = event;
    let partsMs = 0;
    if (!this.#hasMilestones) {
      for (let i = 0; i < stageCount; i++) partsMs += stageMs[i] as number;
      if (isPartial || stageCount === 0) event.leastMs = partsMs;
      else event.totalMs = partsMs;
      return;
    }
    let parts = 0;
    let latestMs = 0;
    for (let i = 0; i < stageCount; i++) {
      const ms = stageMs[i] as number;
      if (this.#areMilestones[stageIds[i] as number] === 1) latestMs = Math.max(latestMs, ms);
      else {
        partsMs += ms;
        parts += 1;
      }
    }
    if (isPartial || parts === 0) event.leastMs = Math.max(partsMs, latestMs);
    else event.totalMs = partsMs;
  }

  /** Learns the names that are new. */
  #learn(): void {
    if (this.#generation !== this.#stages.generation) {
      this.#generation = this.#stages.generation;
      this.#known = 0;
      this.#areMilestones.fill(0);
      this.#hasMilestones = false;
    }
    const { size } = this.#stages;
    if (size > this.#areMilestones.length) this.#areMilestones = grown(this.#areMilestones, size);
    for (; this.#known < size; this.#known++) {
      if (!isMilestoneName(this.#stages.text(this.#known))) continue;
      this.#areMilestones[this.#known] = 1;
      this.#hasMilestones = true;
    }
  }
}
