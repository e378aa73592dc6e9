import { limits } from '../../base/limits.ts';
import { OrderedMap } from '../../base/ordered-map.ts';
import { seriesKey, unversionedKey } from '../../series/series-key.ts';
import type { Series, SeriesWindow } from '../../series/series-window.ts';
import { serializeSeries } from '../../series/snapshot-series.ts';
import { wholeRequest } from '../../series/whole-request.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import { UnreadableState } from '../../snapshot/unreadable-state.ts';
import { JudgedStages } from '../admission/judged-stages.ts';
import type { AnomalyEvent } from '../event/anomaly-event.ts';
import { type DetectOptions, longestRun } from '../options/detect-options.ts';
import { Peers } from '../peers/peers.ts';
import { PeakPool } from '../score/peak-pool.ts';
import type { StepContext } from '../step/detector-step.ts';
import { blockOf } from '../step/sharing-block.ts';
import { SeriesDetector } from './series-detector.ts';
import { SeriesOrder } from './series-order.ts';

/** Stages that each series may have judged, `total` among them, when as many are judged as may be. */
const stagesASeries = 12;

/** The series that are judged, by their key, and what they share. */
export class SeriesDetectors {
  readonly #options: DetectOptions;
  readonly #series = new OrderedMap<SeriesDetector>();
  /** The newest series of each model, whatever its version: the next one begins with what it knows. */
  readonly #newest = new Map<string, SeriesDetector>();
  /** Peaks of all series. */
  readonly #pool = new PeakPool();
  /** Keys of those with so much traffic of late that it could be judged, when that was shared last. */
  #live: readonly string[] = [];
  readonly #order = new SeriesOrder();
  /** Of series with more stages than their share: which of them are judged. */
  readonly #shares = new Map<SeriesDetector, JudgedStages>();
  /** Which series lend their past to which. */
  readonly #peers: Peers;
  /** Of the windows at hand. */
  #startMs = Number.NaN;
  #tests = 0;

  constructor(options: DetectOptions) {
    this.#options = options;
    this.#peers = new Peers(options);
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

  /** Whether there is no room for another one. */
  get isFull(): boolean {
    return this.#series.size >= this.#options.max_series;
  }

  get testCount(): number {
    return this.#tests;
  }

  /** Stages that were not judged in the last window of their series, as it has more than its share. */
  get stagesUnjudged(): number {
    let unjudged = 0;
    for (const share of this.#shares.values()) unjudged += share.unjudged;
    return unjudged;
  }

  get(key: string): SeriesDetector | undefined {
    return this.#series.get(key);
  }

  /** What series know of each other is as of now: how far peaks go, and which series there are. */
  publishShared(startMs: number): void {
    this.#pool.publishShared();
    const sinceMs = startMs - longestRun * this.#options.window;
    const live = [...this.#series].filter(([, { latestWindows }]) => {
      const late = latestWindows.filter(({ windowStartMs }) => windowStartMs >= sinceMs);
      const requests = late.reduce((sum, one) => sum + (wholeRequest(one)?.requests ?? 0), 0);
      return requests >= this.#options.min_requests;
    });
    this.#live = live.map(([key]) => key);
    this.#renewBorrowed(startMs);
  }

  /** Those that are compared with the past of others are, from now on, with what that is by now. */
  #renewBorrowed(nowMs: number): void {
    for (const series of this.#series.values()) {
      const { borrowed } = series;
      if (borrowed === undefined || series.isOpen) continue;
      const renewed = this.#peers.renewedFor(series.series, borrowed, nowMs);
      if (renewed !== undefined) series.borrow(renewed);
    }
  }

  /** The keys of the series of a window, likely to come in the order of the last one. */
  keysOf(windows: readonly SeriesWindow[]): string[] {
    this.#order.begin();
    return windows.map(({ series }) => this.#order.keyOf(series));
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
    const event = series.step(this.#withinShare(series, window), context);
    this.#tests += series.testCount - before;
    return event;
  }

  /** Series that are new from now on are met in windows of that start. */
  beginStep(startMs: number): void {
    this.#startMs = startMs;
  }

  /**
   * A series, begun where it is new: with what those know that it replaces or runs beside.
   *
   * @returns undefined when the series is new and there is no room for it.
   */
  of(series: Series, key: string = seriesKey(series)): SeriesDetector | undefined {
    let detector = this.#series.get(key);
    if (detector === undefined && !this.isFull) {
      const model = unversionedKey(series);
      const before = this.#newest.get(model) ?? this.#peers.largestLender(series, this.#startMs);
      detector = this.#newSeries(series, before);
      this.#series.set(key, detector);
      this.#newest.set(model, detector);
      const borrowed = this.#peers.baselineFor(series, this.#startMs);
      if (borrowed !== undefined) detector.borrow(borrowed);
      this.#peers.add(detector);
    }
    return detector;
  }

  /** Those with so much traffic of late that it could be judged. */
  get live(): Series[] {
    const live = this.#live.map((key) => this.#series.get(key)?.series);
    return live.filter((series) => series !== undefined);
  }

  forget(key: string): void {
    const series = this.#series.get(key);
    if (series === undefined) return;
    this.#series.delete(key);
    this.#shares.delete(series);
    this.#peers.delete(series);
    this.#tests -= series.testCount;
    const model = unversionedKey(series.series);
    if (this.#newest.get(model) === series) this.#newest.delete(model);
  }

  /** What is of one series alone. */
  serializeOne(state: StateArchive, key: string): void {
    const saved = this.#series.get(key);
    const series = serializeSeries(state, saved?.series);
    const restored = saved ?? this.#newSeries(series, undefined);
    if (saved !== undefined) this.#tests -= saved.testCount;
    restored.serialize(state);
    this.#tests += restored.testCount;
    this.#series.set(key, restored);
    state.optional(this.#shares.get(restored), (share = new JudgedStages([], Number.NaN)) => {
      share.serialize(state);
      this.#shares.set(restored, share);
      return share;
    });
  }

  /** Series are loaded in any order: afterwards they are in that in which they were met, as before. */
  putInOrder(keys: readonly string[]): void {
    this.#series.putInOrder(keys);
    for (const series of this.#series.values()) this.#peers.add(series);
  }

  /** What they share, once all are there. */
  serializeShared(state: StateArchive): void {
    state.section('what series share', 3, () => {
      this.#pool.serialize(state);
      this.#live = state.list(this.#live, (key = '') => state.text(key));
      const newest = [...this.#newest.values()].map(({ series }) => seriesKey(series));
      for (const key of state.list(newest, (one = '') => state.text(one))) {
        const series = this.#known(key);
        this.#newest.set(unversionedKey(series.series), series);
      }
      this.#serializeBefore(state);
    });
  }

  /** The series before each young one: another of these, or one that is forgotten by all but that one. */
  #serializeBefore(state: StateArchive): void {
    const young = [...this.#series.values()].filter(({ before }) => before !== undefined);
    state.list(young, (series) => {
      const key = state.text(series === undefined ? '' : seriesKey(series.series));
      const one = serializeSeries(state, series?.before?.series);
      const known = this.#series.get(seriesKey(one));
      const isForgotten = series !== undefined && series.before !== known;
      const forgotten = state.optional(isForgotten ? series.before : undefined, (before) => {
        const restored = before ?? this.#newSeries(one, undefined);
        restored.serialize(state);
        return restored;
      });
      const restored = series ?? this.#known(key);
      restored.before = forgotten ?? this.#known(seriesKey(one));
      return restored;
    });
  }

  /** A window with the stages of its series that are judged: mostly all. */
  #withinShare(series: SeriesDetector, window: SeriesWindow): SeriesWindow {
    const { max_series } = this.#options;
    const places = stagesOf(max_series, this.#series.size);
    let share = this.#shares.get(series);
    if (share === undefined && fits(series, window, places)) return window;
    const block = blockOf(window.windowStartMs);
    share ??= new JudgedStages(series.stages.keys(), block);
    const forget = (stage: string) => series.forgetStage(stage);
    const judged = share.select(window, block, places, !series.isOpen, forget);
    if (share.isEnough(places)) this.#shares.delete(series);
    else this.#shares.set(series, share);
    return judged;
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

/** Stages that a series may have judged: what is left of those of all, in equal parts. A stage takes some 90 KB. */
function stagesOf(maxSeries: number, series: number): number {
  const part = Math.floor((stagesASeries * maxSeries) / Math.max(1, series));
  return Math.min(limits.stagesPerEvent + 1, Math.max(stagesASeries, part));
}

function fits(series: SeriesDetector, { stages }: SeriesWindow, places: number): boolean {
  const known = series.testCount;
  if (known + stages.size <= places) return true;
  let unknown = 0;
  for (const stage of stages.keys()) if (!series.stages.has(stage)) unknown += 1;
  return known + unknown <= places;
}
