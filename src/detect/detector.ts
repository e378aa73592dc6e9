import { invariant } from '../base/invariant.ts';
import type { StageReference } from '../baseline/series-reference.ts';
import { seriesKey, seriesOf } from '../series/series-key.ts';
import type { Series, SeriesWindow } from '../series/series-window.ts';
import type { StateArchive } from '../snapshot/archive.ts';
import { StateReader } from '../snapshot/archive-reader.ts';
import { StateWriter } from '../snapshot/archive-writer.ts';
import { UnreadableState } from '../snapshot/unreadable-state.ts';
import { DriftDetectors, type SeriesHour } from './drift/drift-detectors.ts';
import type { AnomalyEvent } from './event/anomaly-event.ts';
import { IncidentGrouper } from './incident/incident-grouper.ts';
import { isOfOneSeries, liveSeries } from './incident/live-series.ts';
import type { DetectOptions } from './options/detect-options.ts';
import { pageBudget } from './options/page-budget.ts';
import { RateDetectors } from './rate-detectors.ts';
import {
  driftPart,
  modelPart,
  partOf,
  readable,
  StateLoading,
  type StatePart,
  sharedPart,
} from './state-parts.ts';
import { type StepInput, StepJudge } from './step/step-judge.ts';
import type { SeriesDetector } from './tail/series-detector.ts';
import { SeriesDetectors } from './tail/series-detectors.ts';

/** Requests of a model in a block of ten minutes. */
export interface TrafficBlock {
  readonly model: string;
  readonly startMs: number;
  readonly requests: number;
}

export interface DetectorStats {
  readonly series: number;
  /** Series that are judged at most. */
  readonly seriesLimit: number;
  /** Whether some have no place, or had none minutes ago. */
  readonly isCrowded: boolean;
  /** Series of the last window that were not judged. */
  readonly seriesUnjudged: number;
  /** Stages that were not judged in the last window of their series, as it has more than its share. */
  readonly stagesUnjudged: number;
  /** Windows of series that this detector has judged. */
  readonly windowsJudged: number;
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
  readonly #judge: StepJudge;
  readonly #incidents: IncidentGrouper;

  constructor(options: DetectOptions) {
    this.#options = options;
    this.#incidents = new IncidentGrouper(options);
    this.#series = new SeriesDetectors(options);
    this.#drifts = new DriftDetectors(options);
    this.#rates = new RateDetectors(options);
    const detectors = { series: this.#series, rates: this.#rates, drifts: this.#drifts };
    this.#judge = new StepJudge(options, detectors);
  }

  /** How much history a restart should replay: the baseline of every window that taught the last. */
  get historyMs(): number {
    return 2 * this.#options.baseline;
  }

  get stats(): DetectorStats {
    return {
      series: this.#series.size,
      seriesLimit: this.#options.max_series,
      isCrowded: this.#judge.slots.isCrowded,
      seriesUnjudged: this.#judge.slots.unjudged,
      stagesUnjudged: this.#series.stagesUnjudged,
      windowsJudged: this.#judge.windowsJudged,
      tests: this.#judge.testCount,
      perWeek: this.#judge.levels.perWeek,
      windowsBeyondLimit: this.#judge.windowsBeyondLimit + this.#rates.windowsBeyondLimit,
    };
  }

  /** What the table holds of what is open: what `restore` takes. */
  get open(): AnomalyEvent[] {
    return this.#incidents.open;
  }

  /**
   * Whether a series of a window, which comes next or after it in the same two minutes, is needed with all its
   * stages. Of one that is not judged only the stage that stands for whole requests is.
   */
  isWanted(series: Series, windowStartMs: number): boolean {
    return this.#judge.isWanted(series, windowStartMs);
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
    for (const name of this.serialize(writer)) yield { name, bytes: writer.drain() };
  }

  /** Has all that it knows taken up, and says of each part, after it, what it is. */
  *serialize(state: StateArchive): Generator<string, void> {
    for (const key of this.#series.keys) {
      this.#serializeSeries(state, key);
      yield key;
    }
    for (const model of this.#rates.models) {
      this.#rates.serializeModel(state, model);
      yield modelPart(model);
    }
    for (const key of this.#drifts.keys) {
      this.#drifts.serializeOne(state, key);
      yield driftPart(key);
    }
    this.#serializeNames(state);
    this.#serializeShared(state);
    yield sharedPart;
  }

  /**
   * Takes over what another detector has saved; for one that has judged nothing yet. The other parts go to
   * what is returned, in any order and one at a time, so that they need not be in memory together. A series
   * takes some milliseconds: others may have their turn after it.
   *
   * @param bytes of the part that all share.
   * @throws UnreadableState when it was saved by another version or with other settings, or parts are
   * missing. The detector is of no use then.
   */
  beginLoad(bytes: Buffer): StateLoading {
    invariant(this.#series.size === 0, 'a detector that has judged was given the state of another');
    const shared = new StateReader(bytes);
    const { series, models, drifts } = readable(sharedPart, () => this.#serializeNames(shared));
    const carriers = new Map<string, (part: StateArchive) => void>();
    for (const key of series) carriers.set(key, (part) => this.#serializeSeries(part, key));
    for (const model of models) {
      carriers.set(modelPart(model), (part) => this.#rates.serializeModel(part, model));
    }
    for (const key of drifts) {
      carriers.set(driftPart(key), (part) => this.#drifts.serializeOne(part, key));
    }
    return new StateLoading(carriers, () => {
      this.#series.putInOrder(series);
      this.#rates.putInOrder(series, models);
      this.#drifts.putInOrder(drifts);
      this.#serializeShared(shared);
      shared.end();
    });
  }

  /** The same of parts in memory; says the name of each after it. */
  *load(parts: ReadonlyMap<string, Buffer>): Generator<string, void> {
    const loading = this.beginLoad(partOf(parts, sharedPart));
    for (const [name, bytes] of parts) {
      if (name === sharedPart) continue;
      loading.load({ name, bytes });
      yield name;
    }
    loading.end();
  }

  #serializeSeries(state: StateArchive, key: string): void {
    this.#series.serializeOne(state, key);
    const { series } = this.#series.get(key) as SeriesDetector;
    this.#rates.serializeOne(state, series, key);
  }

  /** What the state was saved with, and the names of series, models and drifts, in order. */
  #serializeNames(state: StateArchive) {
    let series: readonly string[] = [];
    let models: readonly string[] = [];
    let drifts: readonly string[] = [];
    state.section('tailmark detector', 4, () => {
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
  #serializeShared(state: StateArchive): void {
    state.section('what all share', 4, () => {
      this.#judge.serialize(state);
      this.#series.serializeShared(state);
      this.#rates.serializeShared(state);
      this.#drifts.serializeShared(state);
      this.#incidents.serialize(state);
    });
  }

  /** Takes an event for what was told, where the same was told before, by another detector. */
  adopt(published: AnomalyEvent): void {
    const event = this.#incidents.adopt(published);
    if (event === undefined) return;
    if (event.kind === 'tail_shift') this.#series.get(seriesKey(event))?.adopt(event);
    else if (event.kind === 'drift') this.#drifts.adopt(event);
    else this.#rates.adopt(event);
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
  backfillTraffic(blocks: Iterable<TrafficBlock>, untilMs: number): void {
    for (const { model, startMs, requests } of blocks)
      this.#rates.backfill(model, startMs, requests);
    this.#rates.backfillUntil(untilMs);
  }

  /**
   * How long the requests of each series took, all its versions together, hour by hour, from long before
   * `warmUp`, oldest first. Without it a week must pass before a slow drift can be told.
   */
  backfillHours(hours: Iterable<SeriesHour>): void {
    for (const hour of hours) this.#drifts.backfill(hour);
  }

  /**
   * No window has become complete up to then, as no model had any request: something that no window tells.
   */
  silentUntil(untilMs: number, nowMs: number): AnomalyEvent[] {
    if (untilMs <= this.#judge.lastStartMs) return [];
    const levels = pageBudget(this.#options.page_budget_per_week, this.#judge.testCount);
    const context = { nowMs, levels, totalRequests: 0, live: true };
    return this.#group(this.#rates.silentUntil(untilMs, context), untilMs, nowMs);
  }

  /** All series of one past window: learns and follows, tells nothing. */
  warmUp(windows: readonly SeriesWindow[]): void {
    this.warmUpAll([windows]);
  }

  /** The same of several windows, oldest first: those of two minutes together take half the time. */
  warmUpAll(all: readonly (readonly SeriesWindow[])[]): void {
    const steps: StepInput[] = [];
    for (const windows of all) {
      const startMs = windows[0]?.windowStartMs;
      if (startMs === undefined) continue;
      steps.push({ startMs, nowMs: startMs + this.#options.window, windows });
    }
    this.#judgeAll(steps, false);
  }

  /**
   * All series of one window.
   *
   * @param windowStartMs to be given when no series had a request in the window.
   * @param isWhole whether all of the traffic is in the windows: while part of it is missing nothing is concluded
   * from how much there is.
   * @returns events in the order in which they are to be stored; each anomaly gives one `opened`, then one
   * `resolved`. Those with an `incident_id` are for the table only.
   */
  observe(
    windows: readonly SeriesWindow[],
    nowMs: number,
    windowStartMs: number | undefined = windows[0]?.windowStartMs,
    isWhole = true,
  ): AnomalyEvent[] {
    if (windowStartMs === undefined) return [];
    return this.#judgeAll([{ startMs: windowStartMs, nowMs, windows, isWhole }], true);
  }

  /** The same of several windows, oldest first: those of two minutes together take half the time. */
  observeAll(steps: readonly StepInput[]): AnomalyEvent[] {
    return this.#judgeAll(steps, true);
  }

  #judgeAll(steps: readonly StepInput[], live: boolean): AnomalyEvent[] {
    const emitted: AnomalyEvent[] = [];
    for (const { startMs, nowMs, events } of this.#judge.evaluate(steps, live)) {
      if (live) emitted.push(...this.#group(events, startMs, nowMs));
    }
    return emitted;
  }

  /** What series and models tell becomes what is stored and told. */
  #group(events: readonly AnomalyEvent[], startMs: number, nowMs: number): AnomalyEvent[] {
    const live = (kind: AnomalyEvent['kind']) => liveSeries(kind, this.#series.live);
    return this.#incidents.group(events, { startMs, nowMs, live });
  }
}
