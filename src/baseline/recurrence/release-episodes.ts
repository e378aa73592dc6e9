import type { StateArchive } from '../../snapshot/archive.ts';
import { DailyRecurrence } from './daily-recurrence.ts';

/** Releases are as far apart as days are, and begin in the middle of one. */
const dayMs = 86_400_000;

/**
 * What comes at the same age of each release of a series, as a slow start does: `DailyRecurrence` by age instead of
 * by time of day. The first release that starts slowly pages; the next one that does so alike does not. A release
 * that was rolled back amid it says nothing of the next one.
 *
 * Memory: that of `DailyRecurrence`.
 */
export class ReleaseEpisodes {
  readonly #episodes = new DailyRecurrence();
  /** Releases before this one. */
  #release = 0;
  #bornMs = Number.NaN;

  get goesOn(): boolean {
    return this.#episodes.goesOn;
  }

  /** Takes the start of a window, before the window itself: the first one is that of the release. */
  begin(windowStartMs: number): void {
    if (Number.isNaN(this.#bornMs)) this.#bornMs = windowStartMs;
  }

  /** Takes a window: `DailyRecurrence.take`. */
  observe(
    ...[startMs, evidence, by, sinceMs, shape]: Parameters<DailyRecurrence['observe']>
  ): void {
    this.#episodes.observe(this.#byAge(startMs), evidence, by, this.#byAge(sinceMs), shape);
  }

  /** What evidence must exceed to be news at this age: `DailyRecurrence.level`. */
  level(windowStartMs: number, varianceInflation: number): number {
    return this.#episodes.level(this.#byAge(windowStartMs), varianceInflation);
  }

  /** Takes over what was seen of the releases before. */
  inherit(other: ReleaseEpisodes): void {
    this.#episodes.inherit(other.#episodes);
    this.#release = other.#release + 1;
  }

  serialize(state: StateArchive): void {
    state.section('release episodes', 1, () => {
      this.#episodes.serialize(state);
      this.#release = state.number(this.#release);
      this.#bornMs = state.number(this.#bornMs);
    });
  }

  /** The time in a calendar of which each release is a day. */
  #byAge(ms: number): number {
    return (this.#release + 0.5) * dayMs + ms - this.#bornMs;
  }
}
