import { seriesKey, unversionedKey } from '../baseline/series-key.ts';
import type { Series, SeriesWindow } from '../baseline/series-window.ts';
import type { PeakPool } from '../baseline/tail-peaks.ts';
import type { TDigest } from '../sketch/t-digest.ts';
import type { AnomalyEvent } from './anomaly-event.ts';
import type { DetectOptions } from './detect-options.ts';
import { ErrorRateDetector } from './error-rate-detector.ts';
import { eventSeries } from './event-series.ts';
import type { StepContext } from './series-detector.ts';

/** What usual requests of a series take. */
export type UsualOf = (series: Series) => TDigest | undefined;

/**
 * All anomalies that are no durations: what of each series fails. They see the same windows as the tails'
 * detectors, in the same order, and are opened, followed and resolved alike.
 */
export class RateDetectors {
  readonly #options: DetectOptions;
  readonly #usualOf: UsualOf;
  readonly #errors = new Map<string, ErrorRateDetector>();
  /** The newest series of each model, whatever its version: the next one begins with what it knows. */
  readonly #newest = new Map<string, ErrorRateDetector>();
  readonly #pool: PeakPool = { peaks: 0, excess: 0 };

  constructor(options: DetectOptions, usualOf: UsualOf) {
    this.#options = options;
    this.#usualOf = usualOf;
  }

  /** Tests that share the budget of false pages. */
  get testCount(): number {
    return this.#errors.size;
  }

  get open(): AnomalyEvent[] {
    return [...this.#errors.values()].flatMap(({ openEvent }) => openEvent ?? []);
  }

  restore(event: AnomalyEvent): void {
    const series = eventSeries(event);
    this.#errorsOf(series, seriesKey(series)).restore(event);
  }

  /** Whether something of the series is open, so that it must not be forgotten. */
  isOpen(key: string): boolean {
    return this.#errors.get(key)?.isOpen === true;
  }

  forget(key: string): void {
    const detector = this.#errors.get(key);
    if (detector === undefined) return;
    this.#errors.delete(key);
    const model = unversionedKey(detector.series);
    if (this.#newest.get(model) === detector) this.#newest.delete(model);
  }

  /** @param present the window of each series that has one, by its key. */
  step(
    present: ReadonlyMap<string, SeriesWindow>,
    startMs: number,
    context: StepContext,
  ): AnomalyEvent[] {
    for (const [key, { series }] of present) this.#errorsOf(series, key);
    const events: AnomalyEvent[] = [];
    for (const [key, detector] of this.#errors) {
      const window = present.get(key);
      const event =
        window === undefined
          ? detector.missing(startMs, context)
          : detector.step(window, context, () => this.#usualOf(window.series));
      if (event !== undefined) events.push(event);
    }
    return events.sort((a, b) => (a.dedup_key < b.dedup_key ? -1 : 1));
  }

  #errorsOf(series: Series, key: string): ErrorRateDetector {
    let detector = this.#errors.get(key);
    if (detector === undefined) {
      const model = unversionedKey(series);
      const before = this.#newest.get(model);
      detector = new ErrorRateDetector(series, this.#options, this.#pool, before);
      this.#errors.set(key, detector);
      this.#newest.set(model, detector);
    }
    return detector;
  }
}
