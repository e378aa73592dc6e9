import { OrderedMap } from '../base/ordered-map.ts';
import { seriesKey } from '../series/series-key.ts';
import type { Series, SeriesWindow } from '../series/series-window.ts';
import { wholeRequest } from '../series/whole-request.ts';
import { TDigest } from '../sketch/t-digest.ts';
import type { StateArchive } from '../snapshot/archive.ts';
import type { AnomalyEvent } from './event/anomaly-event.ts';
import type { TailDigests } from './event/rate-event.ts';
import type { DetectOptions } from './options/detect-options.ts';
import { coldRequests, coldStarts, failedRequests, failures } from './rate/proportion.ts';
import type { BaselineOf } from './rate/proportion-detector.ts';
import { ProportionDetectors } from './rate/proportion-detectors.ts';
import { PeakPool } from './score/peak-pool.ts';
import { SloBurnDetectors } from './slo/slo-burn-detectors.ts';
import type { DetectorStep, StepContext } from './step/detector-step.ts';
import { TrafficDetector } from './traffic/traffic-detector.ts';

/** Limit of models whose traffic is evaluated: backfilled ones count for a day after their last request. */
const maxModels = 2_000;
const ofAllModels = '';

/**
 * All kinds of anomalies that are no durations: failures and cold starts of series, traffic of models,
 * and objectives. They see the same windows as the tail detectors, in the same order.
 */
export class RateDetectors {
  readonly #options: DetectOptions;
  readonly #failures: ProportionDetectors;
  /** Detectors of a warm series and its cold starts together, by the key of the warm series. */
  readonly #coldStarts: ProportionDetectors;
  /** True since the first cold start of any series: before, no detectors of cold starts are created. */
  #hasColdStarts = false;
  readonly #traffic = new OrderedMap<TrafficDetector>();
  readonly #slos: SloBurnDetectors;
  readonly #trafficPool = new PeakPool();

  constructor(options: DetectOptions) {
    this.#options = options;
    this.#failures = new ProportionDetectors(failures, options);
    this.#coldStarts = new ProportionDetectors(coldStarts, options);
    this.#slos = new SloBurnDetectors(options);
  }

  /** Tests that share the budget of false pages. */
  get testCount(): number {
    return this.#failures.size + this.#coldStarts.size + this.#traffic.size;
  }

  /** Series windows that an objective did not evaluate because of the limit. */
  get windowsBeyondLimit(): number {
    return this.#slos.windowsBeyondLimit;
  }

  restore(event: AnomalyEvent): void {
    const proportions = this.#proportionsOf(event);
    if (proportions !== undefined) proportions.restore(event);
    else if (event.kind === 'slo_burn') this.#slos.restore(event);
    else this.#trafficOf(event.model)?.restore(event);
  }

  /** As `AnomalyLifecycle.adopt`. */
  adopt(published: AnomalyEvent): void {
    const proportions = this.#proportionsOf(published);
    if (proportions !== undefined) proportions.adopt(published);
    else if (published.kind === 'slo_burn') this.#slos.adopt(published);
    else this.#traffic.get(published.model)?.adopt(published);
  }

  /** As `AnomalyLifecycle.reconcile`, for all of these kinds. */
  reconcile(open: readonly AnomalyEvent[], isPublished: (id: string) => boolean): void {
    for (const proportions of this.#proportions) proportions.reconcile(open, isPublished);
    const isBurn = ({ kind }: AnomalyEvent) => kind === 'slo_burn';
    this.#slos.reconcile(open.filter(isBurn), isPublished);
    const traffic = new Map<string, AnomalyEvent[]>();
    for (const event of open) {
      if (isBurn(event) || this.#proportionsOf(event) !== undefined) continue;
      traffic.set(event.model, [...(traffic.get(event.model) ?? []), event]);
    }
    for (const [model, detector] of this.#traffic) {
      detector.reconcile(traffic.get(model) ?? [], isPublished);
    }
    for (const [model, events] of traffic) {
      if (!this.#traffic.has(model)) for (const event of events) this.restore(event);
    }
  }

  /** Models whose traffic is evaluated, in order; '' stands for all models. */
  get models(): Iterable<string> {
    return this.#traffic.keys();
  }

  /** Serializes the state of one series, if there is any. */
  serializeOne(state: StateArchive, series: Series, key: string): void {
    for (const proportions of this.#proportions) proportions.serializeOne(state, series, key);
  }

  /** Serializes the traffic of one model. */
  serializeModel(state: StateArchive, model: string): void {
    const restored =
      this.#traffic.get(model) ?? new TrafficDetector(model, this.#options, this.#trafficPool);
    restored.serialize(state);
    this.#traffic.set(model, restored);
  }

  /** As `SeriesDetectors.putInOrder`. */
  putInOrder(series: readonly string[], models: readonly string[]): void {
    for (const proportions of this.#proportions) proportions.putInOrder(series);
    this.#traffic.putInOrder(models);
  }

  /** Serializes the state that series and models share, once the other parts are loaded. */
  serializeShared(state: StateArchive): void {
    state.section('what rates share', 4, () => {
      this.#slos.serialize(state);
      for (const proportions of this.#proportions) proportions.serializeShared(state);
      this.#hasColdStarts = state.flag(this.#hasColdStarts);
      this.#trafficPool.serialize(state);
    });
  }

  /** Backfills one block of a model's traffic; blocks come in order, before any window. */
  backfill(model: string, startMs: number, requests: number): void {
    this.#trafficOf(model)?.backfill(startMs, requests);
  }

  /** Ends the backfill at `endMs`. */
  backfillUntil(endMs: number): void {
    for (const detector of this.#traffic.values()) detector.backfillUntil(endMs);
  }

  /** As `Detector.silentUntil`. */
  silentUntil(untilMs: number, context: StepContext): AnomalyEvent[] {
    return this.#traffic.get(ofAllModels)?.silentUntil(untilMs, context) ?? [];
  }

  /** Reports whether an anomaly of the series is open, so that the series must be kept. */
  isOpen(key: string): boolean {
    return this.#proportions.some((proportions) => proportions.isOpen(key));
  }

  forget(key: string): void {
    for (const proportions of this.#proportions) proportions.forget(key);
  }

  /** Publishes the shared state, as all series and models have changed it. */
  publishShared(): void {
    for (const proportions of this.#proportions) proportions.publishShared();
    this.#trafficPool.publishShared();
  }

  /** Reports whether the series is registered. */
  has(key: string): boolean {
    return this.#failures.has(key);
  }

  /**
   * Registers the series of a window before any is evaluated: a new one inherits the predecessor's state.
   *
   * @param seriesCount number of all series.
   */
  register(present: ReadonlyMap<string, SeriesWindow>, seriesCount: number): void {
    if (this.#failures.size === seriesCount) return;
    for (const [key, { series }] of present) this.#failures.register(series, key);
  }

  /** Evaluates one step of one series. */
  judgeSeries(
    key: string,
    window: SeriesWindow | undefined,
    { startMs, context }: DetectorStep,
    baselineOf: BaselineOf,
  ): AnomalyEvent | undefined {
    const failed = failedRequests(window);
    return this.#failures.stepOne(key, startMs, failed, context, baselineOf);
  }

  /**
   * Evaluates one step of the detectors that span several series.
   *
   * @param baselineOf as of the end of the step; called only for an event.
   */
  evaluate(step: DetectorStep, baselineOf: BaselineOf): AnomalyEvent[] {
    return [
      ...this.#stepColdStarts(step, baselineOf),
      ...this.#stepTraffic(step, baselineOf),
      ...this.#stepSlos(step, baselineOf),
    ];
  }

  #stepColdStarts(
    { present, startMs, context }: DetectorStep,
    baselineOf: BaselineOf,
  ): AnomalyEvent[] {
    for (const { series } of present.values()) this.#hasColdStarts ||= series.cold_start;
    if (!this.#hasColdStarts) return [];
    const cold = new Map<string, SeriesWindow>();
    for (const [key, window] of present) {
      const { series } = window;
      if (!series.cold_start) this.#coldStarts.register(series, key);
      else cold.set(seriesKey({ ...series, cold_start: false }), window);
    }
    const ofBoth = (key: string) => coldRequests(present.get(key), cold.get(key));
    return this.#coldStarts.step(startMs, ofBoth, context, baselineOf);
  }

  /** Counts all series, also those without a slot: a lost slot must not look like lost traffic. */
  #stepTraffic(
    { offered, present, startMs, context }: DetectorStep,
    baselineOf: BaselineOf,
  ): AnomalyEvent[] {
    const requests = requestsByModel(offered);
    let all = 0;
    for (const [model, ofModel] of requests) {
      this.#trafficOf(model);
      all += ofModel;
    }
    if (requests.size > 0) this.#trafficOf(ofAllModels);
    const events: AnomalyEvent[] = [];
    for (const model of this.#traffic.sortedKeys()) {
      const detector = this.#traffic.get(model) as TrafficDetector;
      const window = {
        startMs,
        requests: model === ofAllModels ? all : (requests.get(model) ?? 0),
        isSilentEverywhere: all === 0,
        tail: () => tailDigests(model, present, baselineOf),
      };
      events.push(...detector.step(window, context));
      if (detector.isForgettable(startMs)) this.#traffic.delete(model);
    }
    return events;
  }

  #stepSlos(
    { offered, present, startMs, context }: DetectorStep,
    baselineOf: BaselineOf,
  ): AnomalyEvent[] {
    const tailOf = (model: string) => tailDigests(model, present, baselineOf);
    return this.#slos.step(offered, startMs, context, tailOf);
  }

  #trafficOf(model: string): TrafficDetector | undefined {
    let detector = this.#traffic.get(model);
    if (detector === undefined && this.#traffic.size <= maxModels) {
      detector = new TrafficDetector(model, this.#options, this.#trafficPool);
      this.#traffic.set(model, detector);
    }
    return detector;
  }

  get #proportions(): readonly ProportionDetectors[] {
    return [this.#failures, this.#coldStarts];
  }

  #proportionsOf(event: AnomalyEvent): ProportionDetectors | undefined {
    return this.#proportions.find((proportions) => proportions.isOf(event));
  }
}

/** Requests of each model in a window, in order of appearance. */
function requestsByModel(windows: readonly SeriesWindow[]): Map<string, number> {
  const requests = new Map<string, number>();
  for (const window of windows) {
    const { model } = window.series;
    requests.set(model, (requests.get(model) ?? 0) + (wholeRequest(window)?.requests ?? 0));
  }
  return requests;
}

/** Durations of a model's whole requests, all its series together: now, and in the baseline. */
function tailDigests(
  model: string,
  present: ReadonlyMap<string, SeriesWindow>,
  baselineOf: BaselineOf,
): TailDigests {
  const now: TDigest[] = [];
  const baseline: TDigest[] = [];
  for (const window of present.values()) {
    if (model !== ofAllModels && window.series.model !== model) continue;
    const whole = wholeRequest(window);
    if (whole !== undefined) now.push(whole.digest);
    const before = baselineOf(window.series);
    if (before !== undefined) baseline.push(before);
  }
  const merged = (all: TDigest[]) => (all.length === 0 ? undefined : TDigest.merge(all));
  return { now: merged(now), baseline: merged(baseline) };
}
