import { totalStage } from '../../base/dimensions.ts';
import type { SeriesWindow, StageSummary } from '../../series/series-window.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import { Admission, largest, type Offer } from './admission.ts';

/** A difference of less time, in milliseconds a turn, is not worth what was learnt of a stage. */
const marginMs = 1_000;

/**
 * Which stages of a series are judged, where it has more than its share: `total`, and those in which requests
 * spend the most time, over some ten minutes.
 */
export class JudgedStages {
  readonly #held: Set<string>;
  readonly #admission = new Admission(marginMs);
  #block: number;
  #unjudged = 0;

  /**
   * @param known stages that were judged so far.
   * @param block of two minutes that it begins in.
   */
  constructor(known: Iterable<string>, block: number) {
    this.#held = new Set(known);
    this.#block = block;
  }

  /** Stages of the last window that were not judged. */
  get unjudged(): number {
    return this.#unjudged;
  }

  /** Whether so many are enough again for all stages. */
  isEnough(places: number): boolean {
    return !this.#admission.isCrowded && this.#held.size <= places;
  }

  /**
   * A window with the stages that are judged.
   *
   * @param places how many may be judged.
   * @param mayChange whether places may change hands.
   * @param forget is told a stage that is not judged any more.
   */
  select(
    window: SeriesWindow,
    block: number,
    places: number,
    mayChange: boolean,
    forget: (stage: string) => void,
  ): SeriesWindow {
    if (block !== this.#block) this.#turn(places, mayChange, forget);
    this.#block = block;
    const newcomers: Offer[] = [];
    for (const { stage, sumMs } of window.stages.values()) {
      if (!this.#held.has(stage)) newcomers.push({ key: stage, amount: sumMs });
    }
    const free = Math.max(0, places - this.#held.size);
    if (!this.#admission.isCrowded) {
      for (const { key } of largest(newcomers, free)) this.#held.add(key);
    }
    // Whatever else there is, whole requests are judged.
    if (window.stages.has(totalStage)) this.#held.add(totalStage);
    const refused = newcomers.filter(({ key }) => !this.#held.has(key));
    this.#unjudged = refused.length;
    this.#admission.countRefused(refused, places);
    const stages = new Map<string, StageSummary>();
    for (const [stage, summary] of window.stages) {
      if (!this.#held.has(stage)) continue;
      stages.set(stage, summary);
      this.#admission.countHolder({ key: stage, amount: summary.sumMs });
    }
    return { ...window, stages };
  }

  serialize(state: StateArchive): void {
    this.#block = state.number(this.#block);
    state.list(this.#held, (stage = '') => {
      const held = state.text(stage);
      this.#held.add(held);
      return held;
    });
    this.#admission.serialize(state);
  }

  #turn(places: number, mayChange: boolean, forget: (stage: string) => void): void {
    const isFixed = (stage: string) => !mayChange || stage === totalStage;
    const turn = this.#admission.plan(this.#held, places, isFixed, mayChange ? places : 0);
    this.#admission.apply(turn, places);
    for (const stage of turn.out) {
      this.#held.delete(stage);
      forget(stage);
    }
    for (const stage of turn.in) this.#held.add(stage);
  }
}
