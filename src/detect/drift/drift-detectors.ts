import type { HourTail } from '../../baseline/hourly-tails.ts';
import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import { seriesOf, unversionedKey } from '../../series/series-key.ts';
import type { Series, SeriesWindow } from '../../series/series-window.ts';
import { serializeSeries } from '../../series/snapshot-series.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import { KeyedDetectors } from '../lifecycle/keyed-detectors.ts';
import type { DetectOptions } from '../options/detect-options.ts';
import type { DetectorStep, SeriesEvents } from '../options/detector-step.ts';
import { DriftDetector } from './drift-detector.ts';

/** An hour of a series, all its versions together. */
export interface SeriesHour {
  readonly series: Series;
  readonly hour: HourTail;
}

/** Slow drift of every series, by its key without the version. */
export class DriftDetectors extends KeyedDetectors<DriftDetector> {
  override readonly kinds = ['drift'] as const;
  readonly #options: DetectOptions;
  /** The same detectors by the keys of registered series, versions included. */
  readonly #bySeries = new Map<string, DriftDetector>();
  /** Detectors of several series, or of none, by their keys in order; undefined when outdated. */
  #others: ReadonlyMap<string, DriftDetector> | undefined;
  /** False drifts per week that one detector may cause. */
  #perWeek = 0;

  constructor(options: DetectOptions) {
    super();
    this.#options = options;
  }

  /** As `DriftDetector.backfill`. */
  backfill({ series, hour }: SeriesHour): void {
    this.#of(series)?.backfill(hour);
  }

  /** Unregisters a series whose version has ended. */
  forget(key: string): void {
    const detector = this.#bySeries.get(key);
    if (detector === undefined) return;
    this.#bySeries.delete(key);
    detector.seriesCount -= 1;
    this.#others = undefined;
  }

  serializeOne(state: StateArchive, key: string): void {
    const saved = this.detectors.get(key);
    const series = serializeSeries(state, saved?.series);
    const restored = saved ?? new DriftDetector(series, this.#options);
    restored.serialize(state);
    this.detectors.set(key, restored);
    this.#others = undefined;
  }

  serializeShared(state: StateArchive): void {
    this.#perWeek = state.number(this.#perWeek);
  }

  /** Shares the budget. Drifts do not page: theirs is separate, and as large as that of pages. */
  publishShared(): void {
    this.#perWeek = this.#options.page_budget_per_week / Math.max(1, this.detectors.size);
  }

  /** Reports whether the series is registered, or no more can be. */
  isRegistered(key: string): boolean {
    return this.#bySeries.has(key) || this.detectors.size >= this.#options.max_series;
  }

  /** Registers the series of a window before any is evaluated. */
  register(present: ReadonlyMap<string, SeriesWindow>): void {
    for (const [key, window] of present) {
      if (this.#bySeries.has(key)) continue;
      const detector = this.#of(window.series);
      if (detector === undefined) continue;
      this.#bySeries.set(key, detector);
      detector.seriesCount += 1;
      this.#others = undefined;
    }
  }

  /**
   * Evaluates one step of a series that is the only version.
   *
   * @param isOpen whether a shift of its tail is open.
   * @param tails events of its tail in this step.
   */
  evaluateSeries(
    key: string,
    window: SeriesWindow | undefined,
    { startMs, context }: DetectorStep,
    isOpen: boolean,
    tails: readonly AnomalyEvent[],
  ): AnomalyEvent | undefined {
    const detector = this.#bySeries.get(key);
    if (detector?.seriesCount !== 1) return undefined;
    if (tails.some(({ resolution }) => resolution === 'rebaselined')) {
      detector.forgetBefore(startMs);
    }
    const windows = window === undefined ? [] : [window];
    return detector.step(startMs, windows, !isOpen, this.#perWeek, context);
  }

  /** Evaluates the detectors of several series, or of none; returns all drift events of the step. */
  evaluate(
    { present, startMs, context }: DetectorStep,
    { tails, drifts, openKeys }: SeriesEvents,
  ): AnomalyEvent[] {
    const others = this.#othersInOrder();
    const emitted = drifts.map((event) => ({ key: unversionedKey(event), event }));
    if (others.size > 0) {
      for (const event of tails.filter(({ resolution }) => resolution === 'rebaselined')) {
        others.get(unversionedKey(event))?.forgetBefore(startMs);
      }
      const windows = this.#windowsOfOthers(present);
      const shifted = new Set([...openKeys].map((key) => this.#bySeries.get(key)));
      for (const [key, detector] of others) {
        const own = (windows.get(detector) ?? []).sort(byVersion);
        const isNormal = !shifted.has(detector);
        const event = detector.step(startMs, own, isNormal, this.#perWeek, context);
        if (event !== undefined) emitted.push({ key, event });
        if (detector.seriesCount > 0 || !detector.isForgettable) continue;
        this.detectors.delete(key);
        this.#others = undefined;
      }
    }
    return emitted.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ event }) => event);
  }

  #othersInOrder(): ReadonlyMap<string, DriftDetector> {
    if (this.#others === undefined) {
      const others = new Map<string, DriftDetector>();
      for (const key of this.detectors.sortedKeys()) {
        const detector = this.detectors.get(key) as DriftDetector;
        if (detector.seriesCount !== 1) others.set(key, detector);
      }
      this.#others = others;
    }
    return this.#others;
  }

  #windowsOfOthers(present: ReadonlyMap<string, SeriesWindow>): Map<DriftDetector, SeriesWindow[]> {
    const windows = new Map<DriftDetector, SeriesWindow[]>();
    for (const [key, window] of present) {
      const detector = this.#bySeries.get(key);
      if (detector === undefined || detector.seriesCount === 1) continue;
      const own = windows.get(detector);
      if (own === undefined) windows.set(detector, [window]);
      else own.push(window);
    }
    return windows;
  }

  protected override keyOf(event: AnomalyEvent): string {
    return unversionedKey(event);
  }

  protected override ofEvent(event: AnomalyEvent): DriftDetector | undefined {
    return this.#of(seriesOf(event));
  }

  #of(series: Series): DriftDetector | undefined {
    const key = unversionedKey(series);
    let detector = this.detectors.get(key);
    if (detector === undefined && this.detectors.size < this.#options.max_series) {
      detector = new DriftDetector(series, this.#options);
      this.detectors.set(key, detector);
      this.#others = undefined;
    }
    return detector;
  }
}

/** Orders windows, so that sums are the same to the last bit. */
function byVersion(a: SeriesWindow, b: SeriesWindow): number {
  return a.series.version < b.series.version ? -1 : 1;
}
