import { OrderedMap } from '../base/ordered-map.ts';
import { carrySeries } from '../baseline/carry-series.ts';
import type { HourTail } from '../baseline/hourly-tails.ts';
import { unversionedKey } from '../baseline/series-key.ts';
import { seriesOf } from '../baseline/series-of.ts';
import type { Series, SeriesWindow } from '../baseline/series-window.ts';
import type { StateArchive } from '../baseline/state-archive.ts';
import type { AnomalyEvent } from './anomaly-event.ts';
import type { DetectOptions } from './detect-options.ts';
import { DriftDetector } from './drift-detector.ts';
import type { StepContext } from './series-detector.ts';

/** More series than these are not judged. */
const maxSeries = 2_000;

/** An hour of a series, all its versions together. */
export interface SeriesHour {
  readonly series: Series;
  readonly hour: HourTail;
}

/** The slow drift of every series, by what it is of whatever its version. */
export class DriftDetectors {
  readonly #options: DetectOptions;
  readonly #detectors = new OrderedMap<DriftDetector>();
  /** The same by the keys of series, versions and all, for as long as these are not forgotten. */
  readonly #bySeries = new Map<string, DriftDetector>();

  constructor(options: DetectOptions) {
    this.#options = options;
  }

  /** In the order in which they were met. */
  get keys(): Iterable<string> {
    return this.#detectors.keys();
  }

  restore(event: AnomalyEvent): void {
    this.#of(seriesOf(event))?.restore(event);
  }

  /** What others have told counts, if it is the same event of the same anomaly. */
  take(told: AnomalyEvent): void {
    this.#detectors.get(unversionedKey(told))?.take(told);
  }

  /** As `AnomalyTrack.reconcile`. */
  reconcile(open: readonly AnomalyEvent[], isKnown: (id: string) => boolean): void {
    const own = new Map(open.map((event) => [unversionedKey(event), event]));
    for (const [key, detector] of this.#detectors) detector.reconcile(own.get(key), isKnown);
    for (const [key, event] of own) if (!this.#detectors.has(key)) this.restore(event);
  }

  /** Takes an hour of the longer past; hours come in order, before any window. */
  recall({ series, hour }: SeriesHour): void {
    this.#of(series)?.recall(hour);
  }

  /** A series, by its key, is met no more: its version has ended. */
  forget(key: string): void {
    this.#bySeries.delete(key);
  }

  /** What is of one series alone. */
  carryOne(state: StateArchive, key: string): void {
    const saved = this.#detectors.get(key);
    const series = carrySeries(state, saved?.series);
    const carried = saved ?? new DriftDetector(series, this.#options);
    carried.carry(state);
    this.#detectors.set(key, carried);
  }

  /**
   * @param present the windows of all series.
   * @param isOpen whether a shift of the tail is open in a series, by its key.
   * @param tails what was told of tails in this step.
   */
  step(
    present: ReadonlyMap<string, SeriesWindow>,
    startMs: number,
    isOpen: (key: string) => boolean,
    tails: readonly AnomalyEvent[],
    context: StepContext,
  ): AnomalyEvent[] {
    for (const event of tails.filter(({ resolution }) => resolution === 'adopted')) {
      this.#detectors.get(unversionedKey(event))?.forgetBefore(startMs);
    }
    const windows = new Map<DriftDetector, SeriesWindow[]>();
    const unusual = new Set<DriftDetector>();
    for (const [key, window] of present) {
      const detector = this.#bySeries.get(key) ?? this.#of(window.series);
      if (detector === undefined) continue;
      this.#bySeries.set(key, detector);
      const others = windows.get(detector);
      if (others === undefined) windows.set(detector, [window]);
      else others.push(window);
      if (isOpen(key)) unusual.add(detector);
    }
    // What does not wake anybody has a budget of its own, as large as that of what does.
    const perWeek = this.#options.page_budget_per_week / Math.max(1, this.#detectors.size);
    const events: AnomalyEvent[] = [];
    for (const key of this.#detectors.sortedKeys()) {
      const detector = this.#detectors.get(key) as DriftDetector;
      const own = (windows.get(detector) ?? []).sort(byVersion);
      const event = detector.step(startMs, own, !unusual.has(detector), perWeek, context);
      if (event !== undefined) events.push(event);
      if (own.length === 0 && detector.isForgettable) {
        this.#detectors.delete(key);
        this.#bySeries.clear();
      }
    }
    return events;
  }

  #of(series: Series): DriftDetector | undefined {
    const key = unversionedKey(series);
    let detector = this.#detectors.get(key);
    if (detector === undefined && this.#detectors.size < maxSeries) {
      detector = new DriftDetector(series, this.#options);
      this.#detectors.set(key, detector);
    }
    return detector;
  }
}

/** Sums are the same to the last bit in whatever order windows come. */
function byVersion(a: SeriesWindow, b: SeriesWindow): number {
  return a.series.version < b.series.version ? -1 : 1;
}
