import { OrderedMap } from '../base/ordered-map.ts';
import { carrySeries } from '../baseline/carry-series.ts';
import { seriesKey, unversionedKey } from '../baseline/series-key.ts';
import type { Series, SeriesWindow } from '../baseline/series-window.ts';
import type { StateArchive } from '../baseline/state-archive.ts';
import type { PeakPool } from '../baseline/tail-peaks.ts';
import { UnreadableState } from '../baseline/unreadable-state.ts';
import { wholeRequest } from '../baseline/whole-request.ts';
import type { AnomalyEvent } from './anomaly-event.ts';
import type { DetectOptions } from './detect-options.ts';
import { longestRun } from './longest-run.ts';
import { SeriesDetector, type StepContext } from './series-detector.ts';
import { SeriesOrder } from './series-order.ts';

/** More series than these are not judged: one of ten stages takes some 0.9 MB. */
const maxSeries = 2_000;

/** The series that are judged, by their key, and what they share. */
export class SeriesDetectors {
  readonly #options: DetectOptions;
  readonly #series = new OrderedMap<SeriesDetector>();
  /** The newest series of each model, whatever its version: the next one begins with what it knows. */
  readonly #newest = new Map<string, SeriesDetector>();
  /** Peaks of all series. */
  readonly #pool: PeakPool = { peaks: 0, excess: 0 };
  readonly #order = new SeriesOrder();
  #tests = 0;

  constructor(options: DetectOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#series.size;
  }

  /** In the order in which they were met. */
  get keys(): Iterable<string> {
    return this.#series.keys();
  }

  /** In the same order whoever judges. */
  get sortedKeys(): readonly string[] {
    return this.#series.sortedKeys();
  }

  get all(): Iterable<SeriesDetector> {
    return this.#series.values();
  }

  get testCount(): number {
    return this.#tests;
  }

  get(key: string): SeriesDetector | undefined {
    return this.#series.get(key);
  }

  /** Begins a window: series that are `met` are likely to come in the order of the last one. */
  begin(): void {
    this.#order.begin();
  }

  /** The key of a series of the window, which is judged from now on; undefined where there is no room for it. */
  meet(series: Series): string | undefined {
    const key = this.#order.keyOf(series);
    return this.of(series, key) === undefined ? undefined : key;
  }

  /** A step of one of these; `window` is undefined where it had no request. */
  step(
    series: SeriesDetector,
    window: SeriesWindow | undefined,
    startMs: number,
    context: StepContext,
  ): AnomalyEvent | undefined {
    if (window === undefined) return series.missing(startMs, context);
    const before = series.testCount;
    const event = series.step(window, context);
    this.#tests += series.testCount - before;
    return event;
  }

  /** undefined when the series is new and there is no room for it. */
  of(series: Series, key: string = seriesKey(series)): SeriesDetector | undefined {
    let detector = this.#series.get(key);
    if (detector === undefined && this.#series.size < maxSeries) {
      const model = unversionedKey(series);
      detector = this.#newSeries(series, this.#newest.get(model));
      this.#series.set(key, detector);
      this.#newest.set(model, detector);
    }
    return detector;
  }

  /** Those with so much traffic of late that it could be judged. */
  live(startMs: number): Series[] {
    const { min_requests, window: windowMs } = this.#options;
    const sinceMs = startMs - longestRun * windowMs;
    const live = [...this.#series.values()].filter(({ latestWindows }) => {
      const late = latestWindows.filter(({ windowStartMs }) => windowStartMs >= sinceMs);
      const requests = late.reduce((sum, one) => sum + (wholeRequest(one)?.requests ?? 0), 0);
      return requests >= min_requests;
    });
    return live.map(({ series }) => series);
  }

  forget(key: string): void {
    const series = this.#series.get(key);
    if (series === undefined) return;
    this.#series.delete(key);
    this.#tests -= series.testCount;
    const model = unversionedKey(series.series);
    if (this.#newest.get(model) === series) this.#newest.delete(model);
  }

  /** What is of one series alone. */
  carryOne(state: StateArchive, key: string): void {
    const saved = this.#series.get(key);
    const series = carrySeries(state, saved?.series);
    const carried = saved ?? this.#newSeries(series, undefined);
    if (saved !== undefined) this.#tests -= saved.testCount;
    carried.carry(state);
    this.#tests += carried.testCount;
    this.#series.set(key, carried);
  }

  /** What they share, once all are there. */
  carryShared(state: StateArchive): void {
    state.section('what series share', 2, () => {
      this.#pool.peaks = state.number(this.#pool.peaks);
      this.#pool.excess = state.number(this.#pool.excess);
      const newest = [...this.#newest.values()].map(({ series }) => seriesKey(series));
      for (const key of state.list(newest, (one = '') => state.text(one))) {
        const series = this.#known(key);
        this.#newest.set(unversionedKey(series.series), series);
      }
      this.#carryBefore(state);
    });
  }

  /** The series before each young one: another of these, or one that is forgotten by all but that one. */
  #carryBefore(state: StateArchive): void {
    const young = [...this.#series.values()].filter(({ before }) => before !== undefined);
    state.list(young, (series) => {
      const key = state.text(series === undefined ? '' : seriesKey(series.series));
      const one = carrySeries(state, series?.before?.series);
      const known = this.#series.get(seriesKey(one));
      const isForgotten = series !== undefined && series.before !== known;
      const forgotten = state.optional(isForgotten ? series.before : undefined, (before) => {
        const carried = before ?? this.#newSeries(one, undefined);
        carried.carry(state);
        return carried;
      });
      const carried = series ?? this.#known(key);
      carried.before = forgotten ?? this.#known(seriesKey(one));
      return carried;
    });
  }

  #known(key: string): SeriesDetector {
    const series = this.#series.get(key);
    if (series === undefined) throw new UnreadableState(`it has no series ${key}`);
    return series;
  }

  #newSeries(series: Series, before: SeriesDetector | undefined): SeriesDetector {
    return new SeriesDetector(series, this.#options, this.#pool, before);
  }
}
