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
  #startMs = Number.NaN;
  #perWeek = 0;
  #context: StepContext | undefined;
  /** How many have not been judged in this step; and what those have told that were. */
  #left = 0;
  #told: { readonly key: string; readonly event: AnomalyEvent }[] = [];

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
   * Begins a step, in which `stepSeries` follows for each series that has a window; then `end`.
   *
   * @param present the windows of all series.
   */
  begin(present: ReadonlyMap<string, SeriesWindow>, startMs: number, context: StepContext): void {
    this.#startMs = startMs;
    this.#context = context;
    this.#told = [];
    for (const [key, window] of present) {
      let detector = this.#bySeries.get(key);
      if (detector === undefined) {
        detector = this.#of(window.series);
        if (detector === undefined) continue;
        this.#bySeries.set(key, detector);
      }
      detector.expect(startMs);
    }
    this.#left = this.#detectors.size;
    // What does not wake anybody has a budget of its own, as large as that of what does.
    this.#perWeek = this.#options.page_budget_per_week / Math.max(1, this.#detectors.size);
  }

  /**
   * Judges a series at once, where this is its only version that has a window.
   *
   * @param isOpen whether a shift of its tail is open.
   * @param tail what was told of its tail in this step.
   */
  stepSeries(
    key: string,
    window: SeriesWindow,
    isOpen: boolean,
    tail: AnomalyEvent | undefined,
  ): void {
    const detector = this.#bySeries.get(key);
    if (detector?.expected !== 1 || tail?.resolution === 'adopted') return;
    this.#left -= 1;
    const event = this.#step(detector, [window], !isOpen);
    if (event !== undefined) this.#told.push({ key: unversionedKey(event), event });
  }

  /**
   * Judges what is left.
   *
   * @param isOpen whether a shift of the tail is open in a series, by its key.
   * @param tails what was told of tails in this step.
   */
  end(
    present: ReadonlyMap<string, SeriesWindow>,
    isOpen: (key: string) => boolean,
    tails: readonly AnomalyEvent[],
  ): AnomalyEvent[] {
    if (this.#left > 0) this.#stepOthers(present, isOpen, tails);
    return this.#told.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ event }) => event);
  }

  #stepOthers(
    present: ReadonlyMap<string, SeriesWindow>,
    isOpen: (key: string) => boolean,
    tails: readonly AnomalyEvent[],
  ): void {
    for (const event of tails.filter(({ resolution }) => resolution === 'adopted')) {
      this.#detectors.get(unversionedKey(event))?.forgetBefore(this.#startMs);
    }
    const windows = new Map<DriftDetector, SeriesWindow[]>();
    const unusual = new Set<DriftDetector>();
    for (const [key, window] of present) {
      const detector = this.#bySeries.get(key);
      if (detector === undefined || detector.steppedMs === this.#startMs) continue;
      const others = windows.get(detector);
      if (others === undefined) windows.set(detector, [window]);
      else others.push(window);
      if (isOpen(key)) unusual.add(detector);
    }
    for (const key of this.#detectors.sortedKeys()) {
      const detector = this.#detectors.get(key) as DriftDetector;
      if (detector.steppedMs === this.#startMs) continue;
      const own = (windows.get(detector) ?? []).sort(byVersion);
      const event = this.#step(detector, own, !unusual.has(detector));
      if (event !== undefined) this.#told.push({ key, event });
      if (own.length === 0 && detector.isForgettable) {
        this.#detectors.delete(key);
        this.#bySeries.clear();
      }
    }
  }

  #step(detector: DriftDetector, windows: readonly SeriesWindow[], isUsual: boolean) {
    const context = this.#context as StepContext;
    return detector.step(this.#startMs, windows, isUsual, this.#perWeek, context);
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
