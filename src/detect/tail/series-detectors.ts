import { limits } from '../../base/limits.ts';
import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import { seriesKey, seriesOf, unversionedKey } from '../../series/series-key.ts';
import type { Series, SeriesWindow } from '../../series/series-window.ts';
import { serializeSeries } from '../../series/snapshot-series.ts';
import { wholeRequest } from '../../series/whole-request.ts';
import { type StateArchive, UnreadableState } from '../../snapshot/archive.ts';
import { EvaluatedStages } from '../admission/evaluated-stages.ts';
import { KeyedDetectors } from '../lifecycle/keyed-detectors.ts';
import { type DetectOptions, longestRun } from '../options/detect-options.ts';
import type { StepContext } from '../options/detector-step.ts';
import { blockOf } from '../options/sharing-block.ts';
import { Peers } from '../peers/peers.ts';
import { PeakPool } from '../score/peak-pool.ts';
import { SeriesDetector } from './series-detector.ts';

/** Stages per series, including `total`, that are always evaluated, even at `max_series`. */
const stagesPerSeries = 12;

/** All series by key, and their shared state. */
export class SeriesDetectors extends KeyedDetectors<SeriesDetector> {
  override readonly kinds = ['tail_shift'] as const;
  readonly #options: DetectOptions;
  /** Newest series of each model over its versions, from which the next version inherits. */
  readonly #newest = new Map<string, SeriesDetector>();
  readonly #pool = new PeakPool();
  /** Keys of series with enough recent traffic to evaluate, as last published. */
  #live: readonly string[] = [];
  /** Evaluated stages of series that have more than their share. */
  readonly #shares = new Map<SeriesDetector, EvaluatedStages>();
  /** Choice of the series that lend a baseline to a new one. */
  readonly #peers: Peers<SeriesDetector>;
  /** Start of the current windows. */
  #startMs = Number.NaN;

  constructor(options: DetectOptions) {
    super();
    this.#options = options;
    this.#peers = new Peers(options);
  }

  /** Keys in an order that does not depend on the process. */
  get sortedKeys(): readonly string[] {
    return this.detectors.sortedKeys();
  }

  get isFull(): boolean {
    return this.detectors.size >= this.#options.max_series;
  }

  get testCount(): number {
    return [...this.detectors.values()].reduce((sum, { stages }) => sum + stages.size, 0);
  }

  /** Stages left out of the last window of their series, because it has more than its share. */
  get stagesNotEvaluated(): number {
    return [...this.#shares.values()].reduce((sum, { notEvaluated }) => sum + notEvaluated, 0);
  }

  /** Publishes the shared state to all series: the pool of peaks, the live series, and borrowed baselines. */
  publishShared(startMs: number): void {
    this.#pool.publishShared();
    const sinceMs = startMs - longestRun * this.#options.window;
    const live = [...this.detectors].filter(([, { latestWindows }]) => {
      const recent = latestWindows.filter(({ windowStartMs }) => windowStartMs >= sinceMs);
      const requests = recent.reduce((sum, one) => sum + (wholeRequest(one)?.requests ?? 0), 0);
      return requests >= this.#options.min_requests;
    });
    this.#live = live.map(([key]) => key);
    this.#renewBorrowed(startMs);
  }

  #renewBorrowed(nowMs: number): void {
    for (const series of this.detectors.values()) {
      const { borrowed } = series;
      if (borrowed === undefined || series.isOpen) continue;
      const renewed = this.#peers.renewedFor(series.series, borrowed, nowMs);
      if (renewed !== undefined) series.borrow(renewed);
    }
  }

  /** Steps one series; `window` is undefined where it had no request. */
  step(
    series: SeriesDetector,
    window: SeriesWindow | undefined,
    startMs: number,
    context: StepContext,
  ): AnomalyEvent[] {
    if (window === undefined) return series.missing(startMs, context);
    return series.step(this.#withinShare(series, window), context);
  }

  /** Sets the start of the current windows. */
  beginStep(startMs: number): void {
    this.#startMs = startMs;
  }

  /**
   * Returns a series' detector; undefined for a new series at `max_series`. A new detector inherits from the
   * version it replaces or runs beside.
   */
  of(series: Series, key: string = seriesKey(series)): SeriesDetector | undefined {
    const existing = this.detectors.get(key);
    if (existing !== undefined || this.isFull) return existing;
    const model = unversionedKey(series);
    const before = this.#newest.get(model) ?? this.#peers.largestLender(series, this.#startMs);
    const detector = this.#newSeries(series, before);
    this.detectors.set(key, detector);
    this.#newest.set(model, detector);
    const borrowed = this.#peers.baselineFor(series, this.#startMs);
    if (borrowed !== undefined) detector.borrow(borrowed);
    this.#peers.add(detector);
    return detector;
  }

  /** Series with enough recent traffic to evaluate. */
  get live(): Series[] {
    const live = this.#live.map((key) => this.detectors.get(key)?.series);
    return live.filter((series) => series !== undefined);
  }

  forget(key: string): void {
    const series = this.detectors.get(key);
    if (series === undefined) return;
    this.detectors.delete(key);
    this.#shares.delete(series);
    this.#peers.delete(series);
    const model = unversionedKey(series.series);
    if (this.#newest.get(model) === series) this.#newest.delete(model);
  }

  /** Saves or restores the state of one series. */
  serializeOne(state: StateArchive, key: string): void {
    const saved = this.detectors.get(key);
    const series = serializeSeries(state, saved?.series);
    const restored = saved ?? this.#newSeries(series, undefined);
    restored.serialize(state);
    this.detectors.set(key, restored);
    state.optional(this.#shares.get(restored), (share = new EvaluatedStages([], Number.NaN)) => {
      share.serialize(state);
      this.#shares.set(restored, share);
      return share;
    });
  }

  override putInOrder(keys: readonly string[]): void {
    super.putInOrder(keys);
    for (const series of this.detectors.values()) this.#peers.add(series);
  }

  /** Saves or restores the shared state; all series must be present. */
  serializeShared(state: StateArchive): void {
    state.section('what series share', 3, () => {
      this.#pool.serialize(state);
      this.#live = state.list(this.#live, (key = '') => state.text(key));
      const newest = [...this.#newest.values()].map(({ series }) => seriesKey(series));
      for (const key of state.list(newest, (one = '') => state.text(one))) {
        const series = this.#existing(key);
        this.#newest.set(unversionedKey(series.series), series);
      }
      this.#serializeBefore(state);
    });
  }

  /** Saves or restores each young series' previous version, which may be forgotten here by now. */
  #serializeBefore(state: StateArchive): void {
    const young = [...this.detectors.values()].filter(({ before }) => before !== undefined);
    state.list(young, (series) => {
      const key = state.text(series === undefined ? '' : seriesKey(series.series));
      const one = serializeSeries(state, series?.before?.series);
      const existing = this.detectors.get(seriesKey(one));
      const isForgotten = series !== undefined && series.before !== existing;
      const forgotten = state.optional(isForgotten ? series.before : undefined, (before) => {
        const restored = before ?? this.#newSeries(one, undefined);
        restored.serialize(state);
        return restored;
      });
      const restored = series ?? this.#existing(key);
      restored.before = forgotten ?? this.#existing(seriesKey(one));
      return restored;
    });
  }

  /** Returns the window with the evaluated stages of its series: mostly all. */
  #withinShare(series: SeriesDetector, window: SeriesWindow): SeriesWindow {
    const maxStages = maxStagesOf(this.#options.max_series, this.detectors.size);
    let share = this.#shares.get(series);
    if (share === undefined && fits(series, window, maxStages)) return window;
    const block = blockOf(window.windowStartMs);
    share ??= new EvaluatedStages(series.stages.keys(), block);
    const forget = (stage: string) => series.forgetStage(stage);
    const evaluated = share.select(window, block, maxStages, !series.isOpen, forget);
    if (share.isEnough(maxStages)) this.#shares.delete(series);
    else this.#shares.set(series, share);
    return evaluated;
  }

  #existing(key: string): SeriesDetector {
    const series = this.detectors.get(key);
    if (series === undefined) throw new UnreadableState(`it has no series ${key}`);
    return series;
  }

  protected override keyOf(event: AnomalyEvent): string {
    return seriesKey(event);
  }

  protected override ofEvent(event: AnomalyEvent): SeriesDetector | undefined {
    return this.of(seriesOf(event));
  }

  #newSeries(series: Series, before: SeriesDetector | undefined): SeriesDetector {
    return new SeriesDetector(series, this.#options, this.#pool, before);
  }
}

/** Stages that a series may have evaluated: an equal part of all. A stage takes some 90 KB. */
function maxStagesOf(maxSeries: number, series: number): number {
  const part = Math.floor((stagesPerSeries * maxSeries) / Math.max(1, series));
  return Math.min(limits.stagesPerEvent + 1, Math.max(stagesPerSeries, part));
}

function fits(series: SeriesDetector, { stages }: SeriesWindow, maxStages: number): boolean {
  const known = series.stages;
  if (known.size + stages.size <= maxStages) return true;
  return known.size + [...stages.keys()].filter((stage) => !known.has(stage)).length <= maxStages;
}
