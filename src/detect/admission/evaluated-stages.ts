import { totalStage } from '../../base/dimensions.ts';
import type { SeriesWindow } from '../../series/series-window.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import { Admission, largest, type Offer } from './admission.ts';

/** Smallest gain, in ms per turn, that outweighs the loss of a stage's learnt state. */
const marginMs = 1_000;

/**
 * Evaluated stages of a series that has more than its share: `total`, and those in which requests spend the
 * most time, over some ten minutes.
 */
export class EvaluatedStages {
  readonly #held: Set<string>;
  readonly #admission = new Admission(marginMs);
  #block: number;
  #notEvaluated = 0;

  /** @param known stages that were evaluated so far. */
  constructor(known: Iterable<string>, block: number) {
    this.#held = new Set(known);
    this.#block = block;
  }

  /** Stages of the last window that were not evaluated. */
  get notEvaluated(): number {
    return this.#notEvaluated;
  }

  /** Reports whether `slots` suffice for all stages again. */
  isEnough(slots: number): boolean {
    return !this.#admission.isCrowded && this.#held.size <= slots;
  }

  /**
   * Reduces a window to its evaluated stages.
   *
   * @param mayChange whether slots may be reassigned.
   * @param forget called for each stage that loses its slot.
   */
  select(
    window: SeriesWindow,
    block: number,
    slots: number,
    mayChange: boolean,
    forget: (stage: string) => void,
  ): SeriesWindow {
    if (block !== this.#block) this.#turn(slots, mayChange, forget);
    this.#block = block;
    const offers = Array.from(window.stages.values(), ({ stage, sumMs }): Offer => {
      return { key: stage, amount: sumMs };
    });
    const newcomers = offers.filter(({ key }) => !this.#held.has(key));
    const free = Math.max(0, slots - this.#held.size);
    if (!this.#admission.isCrowded) {
      for (const { key } of largest(newcomers, free)) this.#held.add(key);
    }
    // Whole requests are always evaluated.
    if (window.stages.has(totalStage)) this.#held.add(totalStage);
    const refused = newcomers.filter(({ key }) => !this.#held.has(key));
    this.#notEvaluated = refused.length;
    this.#admission.countRefused(refused, slots);
    for (const offer of offers) if (this.#held.has(offer.key)) this.#admission.countHolder(offer);
    const stages = new Map([...window.stages].filter(([stage]) => this.#held.has(stage)));
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

  #turn(slots: number, mayChange: boolean, forget: (stage: string) => void): void {
    const isFixed = (stage: string) => !mayChange || stage === totalStage;
    const turn = this.#admission.plan(this.#held, slots, isFixed, mayChange ? slots : 0);
    this.#admission.apply(turn, slots);
    for (const stage of turn.out) {
      this.#held.delete(stage);
      forget(stage);
    }
    for (const stage of turn.in) this.#held.add(stage);
  }
}
