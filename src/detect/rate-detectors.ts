import { OrderedMap } from '../base/ordered-map.ts';
import { seriesKey } from '../series/series-key.ts';
import type { Series, SeriesWindow } from '../series/series-window.ts';
import { wholeRequest } from '../series/whole-request.ts';
import { TDigest } from '../sketch/t-digest.ts';
import type { StateArchive } from '../snapshot/archive.ts';
import type { AnomalyEvent } from './event/anomaly-event.ts';
import type { TailBeside } from './event/rate-event.ts';
import type { DetectOptions } from './options/detect-options.ts';
import { coldRequests, coldStarts, failedRequests, failures } from './rate/proportion.ts';
import type { BaselineOf } from './rate/proportion-detector.ts';
import { ProportionDetectors } from './rate/proportion-detectors.ts';
import { PeakPool } from './score/peak-pool.ts';
import { SloBurnDetectors } from './slo/slo-burn-detectors.ts';
import type { DetectorStep, StepContext } from './step/detector-step.ts';
import { TrafficDetector } from './traffic/traffic-detector.ts';

/** More models than series are judged have none: these are kept of a longer past. */
const maxModels = 2_000;
const ofAllModels = '';

/**
 * All anomalies that are no durations: how much of each series fails, how many of its requests are cold
 * starts, and how much traffic each model has. They see the same windows as the tails' detectors, in the
 * same order, and are opened, followed and resolved alike.
 */
export class RateDetectors {
  readonly #options: DetectOptions;
  readonly #failures: ProportionDetectors;
  /** Of a warm series and its cold starts together, by the key of the warm one. */
  readonly #coldStarts: ProportionDetectors;
  /** Whether there was a cold start of any series: where there is none nothing is kept for them. */
  #knowsColdStarts = false;
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

  /** Windows of series that an objective should have judged and could not. */
  get windowsBeyondLimit(): number {
    return this.#slos.windowsBeyondLimit;
  }

  restore(event: AnomalyEvent): void {
    const proportions = this.#proportionsOf(event);
    if (proportions !== undefined) proportions.restore(event);
    else if (event.kind === 'slo_burn') this.#slos.restore(event);
    else this.#trafficOf(event.model)?.restore(event);
  }

  /** What others have told counts, if it is the same event of the same anomaly. */
  adopt(published: AnomalyEvent): void {
    const proportions = this.#proportionsOf(published);
    if (proportions !== undefined) proportions.adopt(published);
    else if (published.kind === 'slo_burn') this.#slos.adopt(published);
    else this.#traffic.get(published.model)?.adopt(published);
  }

  /** As `AnomalyLifecycle.reconcile`, of all of these kinds. */
  reconcile(open: readonly AnomalyEvent[], isKnown: (id: string) => boolean): void {
    for (const proportions of this.#proportions) proportions.reconcile(open, isKnown);
    const isBurn = ({ kind }: AnomalyEvent) => kind === 'slo_burn';
    this.#slos.reconcile(open.filter(isBurn), isKnown);
    const stopped = new Map<string, AnomalyEvent[]>();
    for (const event of open) {
      if (isBurn(event) || this.#proportionsOf(event) !== undefined) continue;
      stopped.set(event.model, [...(stopped.get(event.model) ?? []), event]);
    }
    for (const [model, detector] of this.#traffic) {
      detector.reconcile(stopped.get(model) ?? [], isKnown);
    }
    for (const [model, events] of stopped) {
      if (!this.#traffic.has(model)) for (const event of events) this.restore(event);
    }
  }

  /** Models whose traffic is judged, in order; '' for all of them. */
  get models(): Iterable<string> {
    return this.#traffic.keys();
  }

  /** What is of one series alone, if there is anything. */
  serializeOne(state: StateArchive, series: Series, key: string): void {
    for (const proportions of this.#proportions) proportions.serializeOne(state, series, key);
  }

  /** What is of one model alone. */
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

  /** What series and models share, once all are there. */
  serializeShared(state: StateArchive): void {
    state.section('what rates share', 4, () => {
      this.#slos.serialize(state);
      for (const proportions of this.#proportions) proportions.serializeShared(state);
      this.#knowsColdStarts = state.flag(this.#knowsColdStarts);
      this.#trafficPool.serialize(state);
    });
  }

  /** Takes the requests of a model in a block of the longer past; blocks come in order, before any window. */
  backfill(model: string, startMs: number, requests: number): void {
    this.#trafficOf(model)?.backfill(startMs, requests);
  }

  /** There is nothing more to recall up to then. */
  backfillUntil(endMs: number): void {
    for (const detector of this.#traffic.values()) detector.backfillUntil(endMs);
  }

  /** No window has become complete up to then, as there was no request of any model. */
  silentUntil(untilMs: number, context: StepContext): AnomalyEvent[] {
    return this.#traffic.get(ofAllModels)?.silentUntil(untilMs, context) ?? [];
  }

  /** Whether something of the series is open, so that it must not be forgotten. */
  isOpen(key: string): boolean {
    return this.#proportions.some((proportions) => proportions.isOpen(key));
  }

  forget(key: string): void {
    for (const proportions of this.#proportions) proportions.forget(key);
  }

  /** What series and models have added to what they share counts from now on. */
  publishShared(): void {
    for (const proportions of this.#proportions) proportions.publishShared();
    this.#trafficPool.publishShared();
  }

  /** Whether `know` has been told of the series. */
  has(key: string): boolean {
    return this.#failures.has(key);
  }

  /**
   * Looks at the series of a window from now on, before any of them is judged in it: one that is new begins with
   * what the one before knew until now.
   *
   * @param seriesCount how many series there are.
   */
  register(present: ReadonlyMap<string, SeriesWindow>, seriesCount: number): void {
    if (this.#failures.size === seriesCount) return;
    for (const [key, { series }] of present) this.#failures.register(series, key);
  }

  /** A step of what is of one series alone. */
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
   * A step of what is of several series.
   *
   * @param baselineOf as of the end of the step, asked for only where something is told.
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
    for (const { series } of present.values()) this.#knowsColdStarts ||= series.cold_start;
    if (!this.#knowsColdStarts) return [];
    const cold = new Map<string, SeriesWindow>();
    for (const [key, window] of present) {
      const { series } = window;
      if (!series.cold_start) this.#coldStarts.register(series, key);
      else cold.set(seriesKey({ ...series, cold_start: false }), window);
    }
    const ofBoth = (key: string) => coldRequests(present.get(key), cold.get(key));
    return this.#coldStarts.step(startMs, ofBoth, context, baselineOf);
  }

  /** By all series, also those that are not judged: else traffic would seem to stop where one loses its place. */
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
        tail: () => tailBeside(model, present, baselineOf),
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
    const tailOf = (model: string) => tailBeside(model, present, baselineOf);
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

/** Requests of each model in a window, models in the order in which they are met. */
function requestsByModel(windows: readonly SeriesWindow[]): Map<string, number> {
  const requests = new Map<string, number>();
  for (const window of windows) {
    const { model } = window.series;
    requests.set(model, (requests.get(model) ?? 0) + (wholeRequest(window)?.requests ?? 0));
  }
  return requests;
}

/** What requests of a model take, all its series together: now, and usually. */
function tailBeside(
  model: string,
  present: ReadonlyMap<string, SeriesWindow>,
  baselineOf: BaselineOf,
): TailBeside {
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
