import { invariant } from '../base/invariant.ts';
import type { StageReference } from '../baseline/series-reference.ts';
import type { AnomalyEvent } from '../contract/anomaly-event.ts';
import { seriesKey, seriesOf, unversionedKey } from '../series/series-key.ts';
import { emptySeries, type Series, type SeriesWindow } from '../series/series-window.ts';
import { type StateArchive, UnreadableState } from '../snapshot/archive.ts';
import { StateReader } from '../snapshot/archive-reader.ts';
import { StateWriter } from '../snapshot/archive-writer.ts';
import { DriftDetectors, type SeriesHour } from './drift/drift-detectors.ts';
import { IncidentGrouper } from './incident/incident-grouper.ts';
import type { KeyedDetectors } from './lifecycle/keyed-detectors.ts';
import type { DetectOptions } from './options/detect-options.ts';
import type { PresentAnomaly } from './options/detector-step.ts';
import { pageBudget } from './options/page-budget.ts';
import { RateDetectors } from './rate-detectors.ts';
import {
  driftPart,
  modelPart,
  readable,
  StateLoading,
  type StatePart,
  sharedPart,
} from './state-parts.ts';
import { type EvaluatedStep, StepEvaluator, type StepInput } from './step-evaluator.ts';
import type { SeriesDetector } from './tail/series-detector.ts';
import { SeriesDetectors } from './tail/series-detectors.ts';

/** Requests of a model in a block of `TrafficProfile.blockMs`. */
export interface TrafficBlock {
  readonly model: string;
  readonly startMs: number;
  readonly requests: number;
}

export interface DetectorStats {
  readonly series: number;
  /** Largest number of series that are evaluated. */
  readonly seriesLimit: number;
  /** True while some series have no slot, and for some minutes after. */
  readonly isCrowded: boolean;
  /** In the last window. */
  readonly seriesNotEvaluated: number;
  /** In the last window of their series, which have more than their share. */
  readonly stagesNotEvaluated: number;
  /** Series windows, as are those beyond the limit: since the start. */
  readonly windowsEvaluated: number;
  readonly tests: number;
  /** False pages per week that one test may cause. */
  readonly perWeek: number;
  readonly windowsBeyondLimit: number;
  /** Start of the known history, and the end of the time in which it is short; undefined where it is not. */
  readonly shortHistory: { readonly fromMs: number; readonly untilMs: number } | undefined;
}

/**
 * Turns windows into anomaly events. Pure: the same windows, options and times give the same events.
 * All series of one window start come in one call, and calls come in order. A start at or before the
 * last one is ignored, so a reader may send a window twice.
 *
 * To take over from another detector: `beginLoad` its snapshot, `observe` later windows without emitting
 * the events, then `reconcile` with the published ones. Its state then equals its predecessor's.
 *
 * To start without a snapshot: `restore` the open anomalies, `warmUp` with history, then `observe`.
 * Windows of `historyMs` rebuild the baseline; dispersions and peaks are learnt again.
 */
export class Detector {
  readonly #options: DetectOptions;
  readonly #series: SeriesDetectors;
  readonly #rates: RateDetectors;
  readonly #drifts: DriftDetectors;
  readonly #evaluator: StepEvaluator;
  readonly #incidents: IncidentGrouper;

  constructor(options: DetectOptions) {
    this.#options = options;
    this.#incidents = new IncidentGrouper(options);
    this.#series = new SeriesDetectors(options);
    this.#drifts = new DriftDetectors(options);
    this.#rates = new RateDetectors(options);
    this.#evaluator = new StepEvaluator(options, this.#series, this.#rates, this.#drifts);
  }

  /** History that a restart should replay: a baseline, and the baseline of its first window. */
  get historyMs(): number {
    return 2 * this.#options.baseline;
  }

  get stats(): DetectorStats {
    return {
      series: this.#series.size,
      seriesLimit: this.#options.max_series,
      stagesNotEvaluated: this.#series.stagesNotEvaluated,
      ...this.#evaluator.stats,
    };
  }

  /** Open anomalies as the table stores them: the input of `restore`. */
  get open(): AnomalyEvent[] {
    return this.#incidents.open;
  }

  /**
   * Reports whether all stages of a series are needed, in the next window or later in its two minutes.
   * A series that is not evaluated needs only the stage that stands for whole requests.
   */
  isWanted(series: Series, windowStartMs: number): boolean {
    return this.#evaluator.isWanted(series, windowStartMs);
  }

  /** Baseline of a stage; undefined while too little is learnt. */
  reference(series: Series, stage: string): StageReference | undefined {
    return this.#series.get(seriesKey(series))?.reference(stage);
  }

  /**
   * Serializes the state part by part; nothing may be evaluated meanwhile. The part of a series of ten
   * stages takes some 300 KB.
   */
  *save(): Generator<StatePart, void> {
    const writer = new StateWriter();
    for (const name of this.serialize(writer)) yield { name, bytes: writer.drain() };
  }

  /** Yields the name of each part once it is serialized. */
  *serialize(state: StateArchive): Generator<string, void> {
    for (const [name, serialize] of this.#partsOf(this.#keys)) {
      serialize(state);
      yield name;
    }
    this.#serializeKeys(state);
    this.#serializeShared(state);
    yield sharedPart;
  }

  /**
   * Begins to load a snapshot into a detector that has evaluated nothing yet. The other parts follow in any
   * order, one at a time, so they need not be in memory together. A series takes some milliseconds.
   *
   * @param bytes of the shared part.
   * @throws UnreadableState when another version or other settings saved it. The detector is unusable then.
   */
  beginLoad(bytes: Buffer): StateLoading {
    invariant(this.#series.size === 0, 'a detector that has evaluated windows loads a snapshot');
    const shared = new StateReader(bytes);
    const keys = readable(sharedPart, () => this.#serializeKeys(shared));
    return new StateLoading(this.#partsOf(keys), () => {
      this.#series.putInOrder(keys.series);
      this.#rates.putInOrder(keys.series, keys.models);
      this.#drifts.putInOrder(keys.drifts);
      this.#serializeShared(shared);
      shared.end();
    });
  }

  get #keys() {
    const { traffic } = this.#rates;
    return { series: this.#series.keys, models: traffic.keys, drifts: this.#drifts.keys };
  }

  /** Functions that serialize each part but the shared one, by its name. */
  #partsOf({ series, models, drifts }: Record<'series' | 'models' | 'drifts', Iterable<string>>) {
    const parts = new Map<string, (state: StateArchive) => void>();
    for (const key of series) parts.set(key, (state) => this.#serializeSeries(state, key));
    for (const model of models) {
      parts.set(modelPart(model), (state) => this.#rates.traffic.serializeOne(state, model));
    }
    for (const key of drifts) {
      parts.set(driftPart(key), (state) => this.#drifts.serializeOne(state, key));
    }
    return parts;
  }

  #serializeSeries(state: StateArchive, key: string): void {
    this.#series.serializeOne(state, key);
    const { series } = this.#series.get(key) as SeriesDetector;
    this.#rates.serializeOne(state, series, key);
  }

  /** Serializes the settings, and the keys of series, models and drifts in order. */
  #serializeKeys(state: StateArchive) {
    return state.section('tailmark detector', 4, () => {
      const { window, baseline, quantiles } = this.#options;
      const settings = JSON.stringify({ window, baseline, quantiles });
      const saved = state.text(settings);
      if (saved !== settings) {
        throw new UnreadableState(`it was saved with detect ${saved}, which are now ${settings}`);
      }
      const texts = (keys: Iterable<string>) => state.list(keys, (key = '') => state.text(key));
      const { series, models, drifts } = this.#keys;
      return { series: texts(series), models: texts(models), drifts: texts(drifts) };
    });
  }

  #serializeShared(state: StateArchive): void {
    state.section('what all share', 5, () => {
      this.#evaluator.serialize(state);
      this.#series.serializeShared(state);
      this.#rates.serializeShared(state);
      this.#drifts.serializeShared(state);
      this.#incidents.serialize(state);
    });
  }

  /** Replaces its own event by the same one as another detector has published it. */
  adopt(published: AnomalyEvent): void {
    const event = this.#incidents.adopt(published);
    if (event !== undefined) this.#ofKind(event)?.adopt(event);
  }

  /**
   * Reconciles anomalies that were evaluated without emitting with the published ones, which win.
   *
   * @param open the last published event of every open anomaly, and of all its series.
   * @param isPublished whether any event of an anomaly was published, by its id.
   */
  reconcile(open: readonly AnomalyEvent[], isPublished: (id: string) => boolean): void {
    const anomalies = this.#incidents.restore(open);
    const evaluated = anomalies.filter((event) => this.#isEvaluated(event));
    for (const detectors of this.#kinds) {
      const own = evaluated.filter(({ kind }) => detectors.kinds.includes(kind));
      detectors.reconcile(own, isPublished);
    }
  }

  /** Restores anomalies that are open by the table, from their last events and rows of their series. */
  restore(open: readonly AnomalyEvent[]): void {
    for (const event of open) {
      const isOver = event.state === 'resolved' && event.incident_id === undefined;
      invariant(!isOver, `anomaly ${event.id} is resolved: nothing to restore`);
    }
    for (const event of this.#incidents.restore(open)) {
      if (this.#isEvaluated(event)) this.#ofKind(event)?.restore(event);
    }
  }

  get #kinds(): readonly KeyedDetectors[] {
    return [this.#series, this.#drifts, ...this.#rates.kinds];
  }

  #ofKind({ kind }: AnomalyEvent): KeyedDetectors | undefined {
    return this.#kinds.find(({ kinds }) => kinds.includes(kind));
  }

  /** Creates the detector of the event's series where needed; false at the limit of series. */
  #isEvaluated(event: AnomalyEvent): boolean {
    return !isOfOneSeries(event.kind) || this.#series.of(seriesOf(event)) !== undefined;
  }

  /**
   * Backfills the traffic of each model, and of all together (''), from before `warmUp`: oldest first, up
   * to `untilMs`. Without it, it takes a day to distinguish a stop from an evening.
   */
  backfillTraffic(blocks: Iterable<TrafficBlock>, untilMs: number): void {
    for (const { model, startMs, requests } of blocks)
      this.#rates.traffic.backfill(model, startMs, requests);
    this.#rates.traffic.backfillUntil(untilMs);
  }

  /**
   * Backfills hourly tails of each series in any version, from before `warmUp`, oldest first. Without them
   * it takes a week until slow drifts are detected.
   */
  backfillHours(hours: Iterable<SeriesHour>): void {
    for (const hour of hours) this.#drifts.backfill(hour);
  }

  /** Evaluates the time until `untilMs` in which no window became complete, as no request came. */
  silentUntil(untilMs: number, nowMs: number): AnomalyEvent[] {
    if (untilMs <= this.#evaluator.lastStartMs) return [];
    const levels = pageBudget(this.#options.page_budget_per_week, this.#evaluator.testCount);
    const present = new Map<string, PresentAnomaly>();
    const context = { nowMs, levels, totalRequests: 0, live: true, present };
    const events = this.#rates.traffic.silentUntil(untilMs, context);
    return this.#group({ events, startMs: untilMs, nowMs, present });
  }

  /**
   * Says, before `warmUp`, that windows before that time are stored and are not read. While less than a baseline is
   * known, an anomaly must be larger to be critical, and says so.
   */
  truncateHistory(fromMs: number): void {
    this.#evaluator.truncateHistory(fromMs);
  }

  /**
   * Learns past windows, oldest first, and emits nothing. Those of two minutes together take half the time.
   *
   * @param all series of each window.
   */
  warmUp(all: readonly (readonly SeriesWindow[])[]): void {
    const steps: StepInput[] = [];
    for (const windows of all) {
      const startMs = windows[0]?.windowStartMs;
      if (startMs === undefined) continue;
      steps.push({ startMs, nowMs: startMs + this.#options.window, windows });
    }
    for (const _ of this.#evaluator.evaluate(steps, false));
  }

  /**
   * Evaluates all series of one window.
   *
   * @param windowStartMs required when no series had a request in the window.
   * @param hasAllTraffic false while part of the traffic is missing: its amount is not evaluated then.
   * @returns events in the order in which they are to be stored; each anomaly gives one `opened`, then one
   * `resolved`. Those with an `incident_id` are for the table only.
   */
  observe(
    windows: readonly SeriesWindow[],
    nowMs: number,
    windowStartMs: number | undefined = windows[0]?.windowStartMs,
    hasAllTraffic = true,
  ): AnomalyEvent[] {
    if (windowStartMs === undefined) return [];
    return this.observeAll([{ startMs: windowStartMs, nowMs, windows, hasAllTraffic }]);
  }

  /** Evaluates several windows, oldest first: those of two minutes together take half the time. */
  observeAll(steps: readonly StepInput[]): AnomalyEvent[] {
    const emitted: AnomalyEvent[] = [];
    for (const step of this.#evaluator.evaluate(steps, true)) emitted.push(...this.#group(step));
    return emitted;
  }

  /** Groups the events of series and models into those that are stored and published. */
  #group({ events, ...step }: EvaluatedStep): AnomalyEvent[] {
    const live = (kind: AnomalyEvent['kind']) => liveSeries(kind, this.#series.live);
    return this.#incidents.group(events, { ...step, live });
  }
}

/** Reports whether a kind is of one series; others are of a model, or of all versions of a series. */
function isOfOneSeries(kind: AnomalyEvent['kind']): boolean {
  return ['tail_shift', 'error_rate', 'cold_starts'].includes(kind);
}

/** Series, or models, that may have anomalies of a kind. */
function liveSeries(kind: AnomalyEvent['kind'], series: readonly Series[]): readonly Series[] {
  if (kind === 'drift') {
    const byKey = new Map(series.map((each) => [unversionedKey(each), { ...each, version: '' }]));
    return [...byKey.values()];
  }
  if (!isOfOneSeries(kind)) {
    const models = [...new Set(series.map(({ model }) => model))];
    return models.map((model) => ({ ...emptySeries, model }));
  }
  // Anomalies of cold starts name the warm series.
  return kind === 'cold_starts' ? series.filter(({ cold_start }) => !cold_start) : series;
}
