import type { StateArchive } from '../../snapshot/archive.ts';
import { DailyRecurrence } from './daily-recurrence.ts';
import { ReleaseEpisodes } from './release-episodes.ts';

/**
 * Recurrences of a stage by time of day (`DailyRecurrence`) and by age of a release (`ReleaseEpisodes`). The
 * latter apply while the series is compared with the one before it.
 */
export class Recurrences {
  readonly #daily = new DailyRecurrence();
  readonly #ofReleases = new ReleaseEpisodes();
  #isNew = false;

  static readonly leastScore = DailyRecurrence.leastScore;

  get isOpen(): boolean {
    return this.#daily.isOpen || (this.#isNew && this.#ofReleases.isOpen);
  }

  /** Begins a window. `isNew` is true while the series is compared with the one before it. */
  begin(windowStartMs: number, isNew: boolean): void {
    this.#isNew = isNew;
    if (isNew) this.#ofReleases.begin(windowStartMs);
  }

  observe(...window: Parameters<DailyRecurrence['observe']>): void {
    this.#daily.observe(...window);
    if (this.#isNew) this.#ofReleases.observe(...window);
  }

  addPiece(...piece: Parameters<DailyRecurrence['addPiece']>): void {
    this.#daily.addPiece(...piece);
  }

  /** Threshold that evidence must exceed to be new. */
  threshold(windowStartMs: number, varianceInflation: number): number {
    const ofDay = this.#daily.threshold(windowStartMs, varianceInflation);
    if (!this.#isNew) return ofDay;
    return Math.max(ofDay, this.#ofReleases.threshold(windowStartMs, varianceInflation));
  }

  inherit(other: Recurrences): void {
    this.#daily.inherit(other.#daily);
    this.#ofReleases.inherit(other.#ofReleases);
  }

  serialize(state: StateArchive): void {
    state.section('recurrences', 1, () => {
      this.#daily.serialize(state);
      this.#ofReleases.serialize(state);
      this.#isNew = state.flag(this.#isNew);
    });
  }
}
