import type { StateArchive } from '../../snapshot/archive.ts';
import { DailyRecurrence } from './daily-recurrence.ts';
import { ReleaseEpisodes } from './release-episodes.ts';

/**
 * What a stage does again and again: at a time of day (`DailyRecurrence`), or at an age of a release, while the
 * series is compared with the one before it (`ReleaseEpisodes`).
 */
export class Recurrences {
  readonly #daily = new DailyRecurrence();
  readonly #ofReleases = new ReleaseEpisodes();
  #isNew = false;

  /** Evidence from which on there is something to take, or as long as an episode goes on. */
  static readonly leastScore = DailyRecurrence.leastScore;

  get goesOn(): boolean {
    return this.#daily.goesOn || (this.#isNew && this.#ofReleases.goesOn);
  }

  /** Takes the start of a window that is judged, and whether its series is compared with the one before it. */
  begin(windowStartMs: number, isNew: boolean): void {
    this.#isNew = isNew;
    if (isNew) this.#ofReleases.begin(windowStartMs);
  }

  /** Takes a window: `DailyRecurrence.take`. */
  observe(...window: Parameters<DailyRecurrence['observe']>): void {
    this.#daily.observe(...window);
    if (this.#isNew) this.#ofReleases.observe(...window);
  }

  /** Takes a piece of a first hour: `DailyRecurrence.takePiece`. */
  takePiece(...piece: Parameters<DailyRecurrence['takePiece']>): void {
    this.#daily.takePiece(...piece);
  }

  /** What the evidence must exceed to be news. */
  level(windowStartMs: number, varianceInflation: number): number {
    const ofDay = this.#daily.level(windowStartMs, varianceInflation);
    if (!this.#isNew) return ofDay;
    return Math.max(ofDay, this.#ofReleases.level(windowStartMs, varianceInflation));
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
