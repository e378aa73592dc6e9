import { gapStage } from '../base/dimensions.ts';
import { limits } from '../base/limits.ts';
import type { DecodedEvent } from '../decode/decoded-event.ts';
import { Interner } from '../decode/interner.ts';
import type { CountHost, CountKernel } from '../sketch/count-kernel.ts';

/** Stands for a band where there is none: gaps are in no band of their request's total. */
const noBand = -1;

/**
 * Counts the gaps between tokens to a row of their cell, each as one sample, times the event's weight. So its
 * `requests` are gaps, of which a request has many, and its tail is that of all gaps: a stall that the mean per
 * request hides is in it.
 *
 * Cost: as a duration of a stage, a gap; nothing of an event without gaps, which is not to be passed.
 */
export class TokenGaps {
  readonly #stages: Interner;
  readonly #kernel: CountKernel;
  #generation = -1;
  #id = -1;

  /** @param stages interner of the events' stages. */
  constructor(stages: Interner, kernel: CountKernel) {
    this.#stages = stages;
    this.#kernel = kernel;
  }

  /** Returns true for the id of the stage of gaps, once there are some. */
  isStage(stageId: number): boolean {
    return stageId === this.#id && this.#generation === this.#stages.generation;
  }

  /** Counts the gaps of an event to the row of its cell's block. */
  add(event: DecodedEvent, host: CountHost, block: number): void {
    const id = this.#stageId();
    // Beyond the limit of names they would count as `__other__`, which is a part of the total.
    if (id === Interner.otherId) return;
    const { gapsMs, gapCount, weight } = event;
    const kernel = this.#kernel;
    for (let from = 0; from < gapCount; from += limits.durationsPerEvent) {
      // The kernel replaces its arrays when its memory grows.
      const { ids, durations } = kernel;
      const count = Math.min(limits.durationsPerEvent, gapCount - from);
      for (let i = 0; i < count; i++) {
        ids[i] = id;
        durations[i] = gapsMs[from + i] as number;
      }
      if (weight === 1) kernel.count(host, block, noBand, count, 0, 0);
      else kernel.countMany(host, block, noBand, count, 0, 0, weight);
    }
  }

  /** Id of the stage, interned once a chunk: most chunks have no gaps. */
  #stageId(): number {
    if (this.#generation !== this.#stages.generation) {
      this.#generation = this.#stages.generation;
      this.#id = this.#stages.internText(gapStage);
    }
    return this.#id;
  }
}
