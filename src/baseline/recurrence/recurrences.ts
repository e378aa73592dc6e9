import { dayMs } from '../../base/time.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import { DailyRecurrence } from './daily-recurrence.ts';

/**
 * Recurrences of a stage by time of day, and by age of a release, such as a slow start. The latter apply
 * while the series is compared with the one before it. The first release that starts slowly pages; the next
 * one that does so alike does not. A release that was rolled back meanwhile predicts nothing.
 */
export class Recurrences {
  readonly #daily = new DailyRecurrence();
  /** In a calendar in which each release is a day. */
  readonly #byRelease = new DailyRecurrence();
  /** Releases before this one. */
  #release = 0;
  #bornMs = Number.NaN;
  #isNew = false;

  static readonly leastScore = DailyRecurrence.leastScore;

  get isOpen(): boolean {
    return this.#daily.isOpen || (this.#isNew && this.#byRelease.isOpen);
  }

  /** Begins a window. `isNew` is true while the series is compared with the one before it. */
  begin(windowStartMs: number, isNew: boolean): void {
    this.#isNew = isNew;
    if (isNew && Number.isNaN(this.#bornMs)) this.#bornMs = windowStartMs;
  }

  /** As `DailyRecurrence.observe`. */
  observe(...window: Parameters<DailyRecurrence['observe']>): void {
    this.#daily.observe(...window);
    if (!this.#isNew) return;
    const [startMs, evidence, varianceInflation, sinceMs, shape] = window;
    const [atMs, fromMs] = [this.#inReleases(startMs), this.#inReleases(sinceMs)];
    this.#byRelease.observe(atMs, evidence, varianceInflation, fromMs, shape);
  }

  /** As `DailyRecurrence.addPiece`. */
  addPiece(...piece: Parameters<DailyRecurrence['addPiece']>): void {
    this.#daily.addPiece(...piece);
  }

  /** Threshold that evidence must exceed to be new. */
  threshold(windowStartMs: number, varianceInflation: number): number {
    const ofDay = this.#daily.threshold(windowStartMs, varianceInflation);
    if (!this.#isNew) return ofDay;
    const atMs = this.#inReleases(windowStartMs);
    return Math.max(ofDay, this.#byRelease.threshold(atMs, varianceInflation));
  }

  /** Takes over the episodes of the series that this one replaces. */
  inherit(other: Recurrences): void {
    this.#daily.inherit(other.#daily);
    this.#byRelease.inherit(other.#byRelease);
    this.#release = other.#release + 1;
  }

  serialize(state: StateArchive): void {
    state.section('recurrences', 1, () => {
      this.#daily.serialize(state);
      state.section('release episodes', 1, () => {
        this.#byRelease.serialize(state);
        this.#release = state.number(this.#release);
        this.#bornMs = state.number(this.#bornMs);
      });
      this.#isNew = state.flag(this.#isNew);
    });
  }

  /** A time in the calendar of releases, which begin in the middle of their day. */
  #inReleases(ms: number): number {
    return (this.#release + 0.5) * dayMs + ms - this.#bornMs;
  }
}
