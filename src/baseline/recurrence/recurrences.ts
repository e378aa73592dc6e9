import type { StateArchive } from '../../snapshot/archive.ts';
import { DailyEpisodes } from './daily-recurrence.ts';
import { ReleaseEpisodes } from './release-episodes.ts';

/**
 * What a stage does again and again: at a time of day (`DailyEpisodes`), or at an age of a release, while the
 * series is compared with the one before it (`ReleaseEpisodes`).
 */
export class Recurrences {
  readonly #daily = new DailyEpisodes();
  readonly #ofReleases = new ReleaseEpisodes();
  #isNew = false;

  /** Evidence from which on there is something to take, or as long as an episode goes on. */
  static readonly leastScore = DailyEpisodes.leastScore;

  get goesOn(): boolean {
    return this.#daily.goesOn || (this.#isNew && this.#ofReleases.goesOn);
  }

  /** Takes the start of a window that is judged, and whether its series is compared with the one before it. */
  begin(windowStartMs: number, isNew: boolean): void {
    this.#isNew = isNew;
    if (isNew) this.#ofReleases.begin(windowStartMs);
  }

  /** Takes a window: `DailyEpisodes.take`. */
  take(...window: Parameters<DailyEpisodes['take']>): void {
    this.#daily.take(...window);
    if (this.#isNew) this.#ofReleases.take(...window);
  }

  /** Takes a piece of a first hour: `DailyEpisodes.takePiece`. */
  takePiece(...piece: Parameters<DailyEpisodes['takePiece']>): void {
    this.#daily.takePiece(...piece);
  }

  /** What the evidence must exceed to be news. */
  level(windowStartMs: number, restlessness: number): number {
    const ofDay = this.#daily.level(windowStartMs, restlessness);
    if (!this.#isNew) return ofDay;
    return Math.max(ofDay, this.#ofReleases.level(windowStartMs, restlessness));
  }

  inherit(other: Recurrences): void {
    this.#daily.inherit(other.#daily);
    this.#ofReleases.inherit(other.#ofReleases);
  }

  carry(state: StateArchive): void {
    state.section('recurrences', 1, () => {
      this.#daily.carry(state);
      this.#ofReleases.carry(state);
      this.#isNew = state.flag(this.#isNew);
    });
  }
}
