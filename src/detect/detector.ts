import { totalStage } from '../base/dimensions.ts';
import { invariant } from '../base/invariant.ts';
import { seriesKey, unversionedKey } from '../baseline/series-key.ts';
import { seriesOf } from '../baseline/series-of.ts';
import type { Series, SeriesWindow } from '../baseline/series-window.ts';
import type { StageReference } from '../baseline/stage-baseline.ts';
import type { StateArchive } from '../baseline/state-archive.ts';
import { StateReader } from '../baseline/state-reader.ts';
import { StateWriter } from '../baseline/state-writer.ts';
import { UnreadableState } from '../baseline/unreadable-state.ts';
import { wholeRequest } from '../baseline/whole-request.ts';
import type { AnomalyEvent } from './anomaly-event.ts';
import type { DetectOptions } from './detect-options.ts';
import { DriftDetectors, type SeriesHour } from './drift-detectors.ts';
import { IncidentGrouper } from './incident-grouper.ts';
import { pageBudget } from './page-budget.ts';
import { RateDetectors } from './rate-detectors.ts';
import type { SeriesDetector, StepContext } from './series-detector.ts';
import { SeriesDetectors } from './series-detectors.ts';

/** Part of a detector's state: of a series, a model, a drift, or what they share, which is the last. */
export interface StatePart {
  readonly name: string;
  readonly bytes: Buffer;
}

/**
 * Names of parts: what all share, what is of a model's traffic, and of a series' drift. Those of series are
 * their keys.
 */
const sharedPart = 'shared';
const modelPart = (model: string) => `model ${model}`;
const driftPart = (key: string) => `drift ${key}`;

/** Requests of a model in a block of ten minutes. */
export interface TrafficBlock {
  readonly model: string;
  readonly startMs: number;
  readonly requests: number;
}

export interface DetectorStats {
  readonly series: number;
  readonly tests: number;
  /** False pages a week that one test may spend. */
  readonly perWeek: number;
  /** Windows of series beyond the limit, which were not judged, since the start. */
  readonly windowsBeyondLimit: number;
}

/**
 * Windows in, anomaly events out. Pure: the same windows, options and times give the same events.
 * All series of one window start come in one call, and calls come in order; a start at or before
 * the last one is ignored, so that a reader may send a window twice.
 *
 * To go on where another one stopped: `load` what it has saved, `observe` what came after that and leave
 * untold what comes of it, `reconcile` with what was told; all is then as it was there.
 *
 * To start anew: `restore` what the table has open, `warmUp` with history, oldest first, then
 * `observe`. The baseline comes back after `historyMs` of windows; how restless a series is and how
 * far it goes is learnt anew.
 */
export class Detector {
  readonly #options: DetectOptions;
  readonly #series: SeriesDetectors;
  readonly #rates: RateDetectors;
  readonly #drifts: DriftDetectors;
  #lastStartMs = Number.NEGATIVE_INFINITY;
  #windowsBeyondLimit = 0;
  #perWeek = 0;
  readonly #incidents: IncidentGrouper;

  constructor(options: DetectOptions) {
    this.#options = options;
    this.#incidents = new IncidentGrouper(options);
    this.#series = new SeriesDetectors(options);
    this.#drifts = new DriftDetectors(options);
    this.#rates = new RateDetectors(
      options,
      (series) => this.#series.get(seriesKey(series))?.usual(totalStage)?.digest,
    );
  }

  /** How much history a restart should replay: the baseline of every window that taught the last. */
  get historyMs(): number {
    return 2 * this.#options.baseline;
  }

  get stats(): DetectorStats {
    return {
      series: this.#series.size,
      tests: this.#tests(),
      perWeek: this.#perWeek,
      windowsBeyondLimit: this.#windowsBeyondLimit + this.#rates.windowsBeyondLimit,
    };
  }

  /** What the table holds of what is open: what `restore` takes. */
  get open(): AnomalyEvent[] {
    return this.#incidents.open;
  }

  /** What a stage of a series is compared with; undefined while too little of it was learnt. */
  reference(series: Series, stage: string): StageReference | undefined {
    return this.#series.get(seriesKey(series))?.reference(stage);
  }

  /**
   * All that it knows, to go on with: the parts follow each other, and nothing may be judged meanwhile.
   * Part of it is as large as a series: some 300 KB for one of ten stages.
   */
  *save(): Generator<StatePart, void> {
    const writer = new StateWriter();
    for (const name of this.carry(writer)) yield { name, bytes: writer.take() };
  }

  /** Has all that it knows taken up, and says of each part, after it, what it is. */
  *carry(state: StateArchive): Generator<string, void> {
    for (const key of this.#series.keys) {
      this.#carrySeries(state, key);
      yield key;
    }
    for (const model of this.#rates.models) {
      this.#rates.carryModel(state, model);
      yield modelPart(model);
    }
    for (const key of this.#drifts.keys) {
      this.#drifts.carryOne(state, key);
      yield driftPart(key);
    }
    this.#carryNames(state);
    this.#carryShared(state);
    yield sharedPart;
  }

  /**
   * Takes over what another detector has saved, by name; for one that has judged nothing yet. Each series
   * takes some milliseconds, after which it says its name, so that others may have their turn.
   *
   * @throws UnreadableState when it was saved by another version or with other settings, or parts are
   * missing. The detector is of no use then.
   */
  *load(parts: ReadonlyMap<string, Buffer>): Generator<string, void> {
    invariant(this.#series.size === 0, 'a detector that has judged was given the state of another');
    const shared = new StateReader(partOf(parts, sharedPart));
    const { series, models, drifts } = this.#carryNames(shared);
    for (const key of series) yield readPart(parts, key, (part) => this.#carrySeries(part, key));
    for (const model of models) {
      yield readPart(parts, modelPart(model), (part) => this.#rates.carryModel(part, model));
    }
    for (const key of drifts) {
      yield readPart(parts, driftPart(key), (part) => this.#drifts.carryOne(part, key));
    }
    this.#carryShared(shared);
    shared.end();
  }

  #carrySeries(state: StateArchive, key: string): void {
    this.#series.carryOne(state, key);
    const { series } = this.#series.get(key) as SeriesDetector;
    this.#rates.carryOne(state, series, key);
  }

  /** What the state was saved with, and the names of series, models and drifts, in order. */
  #carryNames(state: StateArchive) {
    let series: readonly string[] = [];
    let models: readonly string[] = [];
    let drifts: readonly string[] = [];
    state.section('tailmark detector', 3, () => {
      const { window, baseline, quantiles } = this.#options;
      const settings = JSON.stringify({ window, baseline, quantiles });
      const saved = state.text(settings);
      if (saved !== settings) {
        throw new UnreadableState(`it was saved with detect ${saved}, which are now ${settings}`);
      }
      series = state.list(this.#series.keys, (key = '') => state.text(key));
      models = state.list(this.#rates.models, (model = '') => state.text(model));
      drifts = state.list(this.#drifts.keys, (key = '') => state.text(key));
    });
    return { series, models, drifts };
  }

  /** What they share, once they are there. */
  #carryShared(state: StateArchive): void {
    state.section('what all share', 2, () => {
      this.#lastStartMs = state.number(this.#lastStartMs);
      this.#windowsBeyondLimit = state.number(this.#windowsBeyondLimit);
      this.#series.carryShared(state);
      this.#rates.carryShared(state);
      this.#incidents.carry(state);
    });
  }

  /** Takes an event for what was told, where the same was told before, by another detector. */
  take(told: AnomalyEvent): void {
    const event = this.#incidents.take(told);
    if (event === undefined) return;
    if (event.kind === 'tail_shift') this.#series.get(seriesKey(event))?.take(event);
    else if (event.kind === 'drift') this.#drifts.take(event);
    else this.#rates.take(event);
  }

  /**
   * Settles what was judged without telling against what was told.
   *
   * @param open the last event of every anomaly that is open by what was told, and of all its series.
   * @param isKnown whether anything was told of an anomaly, by its id.
   */
  reconcile(open: readonly AnomalyEvent[], isKnown: (id: string) => boolean): void {
    const anomalies = this.#incidents.restore(open);
    const judged = anomalies.filter((event) => this.#isJudged(event));
    const tails = judged.filter(({ kind }) => kind === 'tail_shift');
    const byKey = new Map(tails.map((event) => [seriesKey(event), event]));
    for (const key of this.#series.keys) {
      this.#series.get(key)?.reconcile(byKey.get(key), isKnown);
    }
    const drifts = judged.filter(({ kind }) => kind === 'drift');
    this.#drifts.reconcile(drifts, isKnown);
    const others = judged.filter(({ kind }) => kind !== 'tail_shift' && kind !== 'drift');
    this.#rates.reconcile(others, isKnown);
  }

  /**
   * Takes over anomalies whose last event in the table is `opened` or `updated`, with the last rows of all
   * series that are part of them.
   */
  restore(open: readonly AnomalyEvent[]): void {
    for (const event of open) {
      const isOver = event.state === 'resolved' && event.incident_id === undefined;
      invariant(!isOver, `anomaly ${event.id} is resolved: nothing to restore`);
    }
    for (const event of this.#incidents.restore(open)) {
      if (!this.#isJudged(event)) continue;
      if (event.kind === 'tail_shift') this.#series.get(seriesKey(event))?.restore(event);
      else if (event.kind === 'drift') this.#drifts.restore(event);
      else this.#rates.restore(event);
    }
  }

  /** Whether there is a series for it, from now on at least. What is of several series is of none. */
  #isJudged(event: AnomalyEvent): boolean {
    return !isOfOneSeries(event.kind) || this.#series.of(seriesOf(event)) !== undefined;
  }

  /**
   * How much traffic each model had, and all of them together (''), from long before `warmUp`: in blocks
   * of `TrafficProfile.blockMs`, oldest first, up to `untilMs`. Without it a day must pass before a stop
   * can be told from an evening.
   */
  recallTraffic(blocks: Iterable<TrafficBlock>, untilMs: number): void {
    for (const { model, startMs, requests } of blocks) this.#rates.recall(model, startMs, requests);
    this.#rates.recallUntil(untilMs);
  }

  /**
   * How long the requests of each series took, all its versions together, hour by hour, from long before
   * `warmUp`, oldest first. Without it a week must pass before a slow drift can be told.
   */
  recallHours(hours: Iterable<SeriesHour>): void {
    for (const hour of hours) this.#drifts.recall(hour);
  }

  /**
   * No window has become complete up to then, as no model had any request: something that no window tells.
   */
  silentUntil(untilMs: number, nowMs: number): AnomalyEvent[] {
    if (untilMs <= this.#lastStartMs) return [];
    const events = this.#rates.silentUntil(untilMs, this.#contextAt(nowMs, [], true));
    return this.#fold(events, untilMs, nowMs);
  }

  /** All series of one past window: learns and follows, tells nothing. */
  warmUp(windows: readonly SeriesWindow[]): void {
    const startMs = windows[0]?.windowStartMs;
    if (startMs === undefined) return;
    this.#step(windows, startMs, startMs + this.#options.window, false);
  }

  /**
   * All series of one window.
   *
   * @param windowStartMs to be given when no series had a request in the window.
   * @returns events in the order in which they are to be stored; each anomaly gives one `opened`, then one
   * `resolved`. Those with an `incident_id` are for the table only.
   */
  observe(
    windows: readonly SeriesWindow[],
    nowMs: number,
    windowStartMs: number | undefined = windows[0]?.windowStartMs,
  ): AnomalyEvent[] {
    if (windowStartMs === undefined) return [];
    return this.#step(windows, windowStartMs, nowMs, true);
  }

  #step(
    windows: readonly SeriesWindow[],
    startMs: number,
    nowMs: number,
    live: boolean,
  ): AnomalyEvent[] {
    if (startMs <= this.#lastStartMs) return [];
    this.#lastStartMs = startMs;
    const present = this.#present(windows, startMs);
    const context = this.#contextAt(nowMs, windows, live);
    this.#drifts.begin(present, startMs, context);
    this.#rates.begin(present, startMs, this.#series.size);
    const events: AnomalyEvent[] = [];
    // All of a series at once, while what it needs is at hand: of many series nothing stays in a cache for long.
    for (const key of this.#series.sortedKeys) {
      const series = this.#series.get(key) as SeriesDetector;
      const window = present.get(key);
      const event = this.#series.step(series, window, startMs, context);
      if (event !== undefined) events.push(event);
      if (window === undefined && this.#isForgettable(key, startMs)) this.#forget(key);
      else this.#rates.stepSeries(key, window, context);
      if (window !== undefined) this.#drifts.stepSeries(key, window, series.isOpen, event);
    }
    const isOpen = (key: string) => this.#series.get(key)?.isOpen === true;
    const drifts = this.#drifts.end(present, isOpen, events);
    events.push(...this.#rates.end(present, context), ...drifts);
    return live ? this.#fold(events, startMs, nowMs) : [];
  }

  /** The windows of series that are judged, by their keys. */
  #present(windows: readonly SeriesWindow[], startMs: number): Map<string, SeriesWindow> {
    const present = new Map<string, SeriesWindow>();
    this.#series.begin();
    for (const window of windows) {
      const { windowStartMs, windowMs } = window;
      if (windowStartMs !== startMs || windowMs !== this.#options.window) {
        const what = `a window of ${windowMs} ms at ${windowStartMs}`;
        invariant(false, `${what} came with those at ${startMs}`);
      }
      const key = this.#series.meet(window.series);
      if (key === undefined) this.#windowsBeyondLimit += 1;
      else present.set(key, window);
    }
    return present;
  }

  /** What series and models tell becomes what is stored and told. */
  #fold(events: readonly AnomalyEvent[], startMs: number, nowMs: number): AnomalyEvent[] {
    const live = (kind: AnomalyEvent['kind']) => {
      const series = this.#series.live(startMs);
      if (kind === 'drift') return unversioned(series);
      if (!isOfOneSeries(kind)) return modelsOf(series);
      // Cold starts are told of the warm series that they are a part of.
      return kind === 'cold_starts' ? series.filter(({ cold_start }) => !cold_start) : series;
    };
    return this.#incidents.fold(events, { startMs, nowMs, live });
  }

  #contextAt(nowMs: number, windows: readonly SeriesWindow[], live: boolean): StepContext {
    const levels = pageBudget(this.#options.page_budget_per_week, this.#tests());
    this.#perWeek = levels.perWeek;
    // Asked for only where something is told.
    const requests = () => requestsOf(windows);
    return {
      ...{ nowMs, levels, live },
      get totalRequests() {
        return requests();
      },
    };
  }

  #isForgettable(key: string, startMs: number): boolean {
    return this.#series.get(key)?.isForgettable(startMs) === true && !this.#rates.isOpen(key);
  }

  #forget(key: string): void {
    this.#series.forget(key);
    this.#drifts.forget(key);
    this.#rates.forget(key);
  }

  #tests(): number {
    return this.#rates.testCount + this.#series.testCount;
  }
}

function requestsOf(windows: readonly SeriesWindow[]): number {
  return windows.reduce((sum, window) => sum + (wholeRequest(window)?.requests ?? 0), 0);
}

/** Whether anomalies of the kind are of one series; others are of a model, or of all versions of a series. */
function isOfOneSeries(kind: AnomalyEvent['kind']): boolean {
  return ['tail_shift', 'error_rate', 'cold_starts'].includes(kind);
}

/** Each once, whatever its version. */
function unversioned(series: readonly Series[]): Series[] {
  const byKey = new Map(series.map((each) => [unversionedKey(each), { ...each, version: '' }]));
  return [...byKey.values()];
}

/** Each of their models, as anomalies of models name them. */
function modelsOf(series: readonly Series[]): Series[] {
  const none = { service: '', version: '', request_type: '', region: '', host: '', tenant: '' };
  const models = [...new Set(series.map(({ model }) => model))];
  return models.map((model) => ({ ...none, model, cold_start: false }));
}

/** Takes a part to its end; its name. */
function readPart(
  parts: ReadonlyMap<string, Buffer>,
  name: string,
  carry: (part: StateArchive) => void,
): string {
  const reader = new StateReader(partOf(parts, name));
  carry(reader);
  reader.end();
  return name;
}

function partOf(parts: ReadonlyMap<string, Buffer>, name: string): Buffer {
  const bytes = parts.get(name);
  if (bytes === undefined) throw new UnreadableState(`its part ${name} is missing`);
  return bytes;
}
