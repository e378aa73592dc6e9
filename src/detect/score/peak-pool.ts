import type { StateArchive } from '../../snapshot/archive.ts';

/** Excesses are kept in steps of this, so that their sum is the same in whatever order they come. */
const step = 2 ** -20;

/**
 * Peaks of all series, and by how much they exceeded together: what one series knows too little of by itself.
 * What is added counts once it is shared, so that it does not matter which series is judged first.
 */
export class PeakPool {
  #peaks = 0;
  #excess = 0;
  #unsharedPeaks = 0;
  #unsharedExcess = 0;

  get peaks(): number {
    return this.#peaks;
  }

  get excess(): number {
    return this.#excess;
  }

  add(excess: number): void {
    this.#unsharedPeaks += 1;
    this.#unsharedExcess += Math.round(excess / step) * step;
  }

  /** What was added counts from now on. */
  publishShared(): void {
    this.#peaks += this.#unsharedPeaks;
    this.#excess += this.#unsharedExcess;
    this.#unsharedPeaks = 0;
    this.#unsharedExcess = 0;
  }

  serialize(state: StateArchive): void {
    this.#peaks = state.number(this.#peaks);
    this.#excess = state.number(this.#excess);
    this.#unsharedPeaks = state.number(this.#unsharedPeaks);
    this.#unsharedExcess = state.number(this.#unsharedExcess);
  }
}
