import type { StateArchive } from '../../snapshot/archive.ts';
import { DailyRecurrence } from './daily-recurrence.ts';

/** Releases are a day apart, and begin in the middle of one. */
const dayMs = 86_400_000;

/**
 * Recurrences at the same age of each release, such as a slow start: `DailyRecurrence` by age instead of time
 * of day. The first release that starts slowly pages; the next one that does so alike does not. A release
 * that was rolled back meanwhile predicts nothing.
 *
 * Memory: that of `DailyRecurrence`.
 */
export class ReleaseEpisodes {
  readonly #episodes = new DailyRecurrence();
  /** Releases before this one. */
  #release = 0;
  #bornMs = Number.NaN;

  get isOpen(): boolean {
    return this.#episodes.isOpen;
  }

  /** Begins a window; the first one is the start of the release. */
  begin(windowStartMs: number): void {
    if (Number.isNaN(this.#bornMs)) this.#bornMs = windowStartMs;
  }

  observe(
    ...[startMs, evidence, varianceInflation, sinceMs, shape]: Parameters<
      DailyRecurrence['observe']
    >
  ): void {
    this.#episodes.observe(
      this.#byAge(startMs),
      evidence,
      varianceInflation,
      this.#byAge(sinceMs),
      shape,
    );
  }

  /** Threshold that evidence must exceed to be new at this age. */
  threshold(windowStartMs: number, varianceInflation: number): number {
    return this.#episodes.threshold(this.#byAge(windowStartMs), varianceInflation);
  }

  /** Takes over the episodes of the releases before. */
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

  /** Time in a calendar in which each release is a day. */
  #byAge(ms: number): number {
    return (this.#release + 0.5) * dayMs + ms - this.#bornMs;
  }
}
