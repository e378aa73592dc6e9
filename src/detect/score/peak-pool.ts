import type { StateArchive } from '../../snapshot/archive.ts';

/** Rounding of excesses, so that their sum does not depend on the order. */
const step = 2 ** -20;

/**
 * Peaks of all series and the sum of their excesses, a prior for series with few peaks of their own.
 * Additions count from `publishShared` on, so that the order in which series are evaluated does not matter.
 */
export class PeakPool {
  #peaks = 0;
  #excess = 0;
  #pendingPeaks = 0;
  #pendingExcess = 0;

  get peaks(): number {
    return this.#peaks;
  }

  get excess(): number {
    return this.#excess;
  }

  add(excess: number): void {
    this.#pendingPeaks += 1;
    this.#pendingExcess += Math.round(excess / step) * step;
  }

  /** Publishes the pending additions to all series. */
  publishShared(): void {
    this.#peaks += this.#pendingPeaks;
    this.#excess += this.#pendingExcess;
    this.#pendingPeaks = 0;
    this.#pendingExcess = 0;
  }

  serialize(state: StateArchive): void {
    this.#peaks = state.number(this.#peaks);
    this.#excess = state.number(this.#excess);
    this.#pendingPeaks = state.number(this.#pendingPeaks);
    this.#pendingExcess = state.number(this.#pendingExcess);
  }
}
