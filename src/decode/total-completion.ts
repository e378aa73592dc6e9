import { kindOfName } from '../base/dimensions.ts';
import type { DecodedEvent } from './decoded-event.ts';
import type { Interner } from './interner.ts';
import { StageTags } from './stage-tags.ts';

const tags: Readonly<Record<ReturnType<typeof kindOfName>, number>> = {
  part: 0,
  milestone: 1,
  measure: 2,
};

/**
 * Completes events without a total: it is the sum of the stages that are parts, unless there is none or the
 * event is partial.
 */
export class TotalCompletion {
  readonly #kinds: StageTags;

  constructor(stages: Interner) {
    this.#kinds = new StageTags(stages, (name) => tags[kindOfName(name)]);
  }

  /** Sets `totalMs`, or else `leastMs`, of an event whose stages have their ids. */
  complete(event: DecodedEvent, isPartial: boolean): void {
    if (!Number.isNaN(event.totalMs)) return;
    const { stageIds, stageMs, stageCount } = event;
    let partsMs = 0;
    if (!this.#kinds.hasAny()) {
      for (let i = 0; i < stageCount; i++) partsMs += stageMs[i] as number;
      if (isPartial || stageCount === 0) event.leastMs = partsMs;
      else event.totalMs = partsMs;
      return;
    }
    let parts = 0;
    let latestMs = 0;
    for (let i = 0; i < stageCount; i++) {
      const ms = stageMs[i] as number;
      const kind = this.#kinds.of(stageIds[i] as number);
      if (kind === tags.milestone) latestMs = Math.max(latestMs, ms);
      if (kind !== tags.part) continue;
      partsMs += ms;
      parts += 1;
    }
    if (isPartial || parts === 0) event.leastMs = Math.max(partsMs, latestMs);
    else event.totalMs = partsMs;
  }
}
