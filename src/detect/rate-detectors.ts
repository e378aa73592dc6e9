import { OrderedMap } from '../base/ordered-map.ts';
import { seriesKey } from '../baseline/series-key.ts';
import type { Series, SeriesWindow } from '../baseline/series-window.ts';
import type { StateArchive } from '../baseline/state-archive.ts';
import type { PeakPool } from '../baseline/tail-peaks.ts';
import { wholeRequest } from '../baseline/whole-request.ts';
import { TDigest } from '../sketch/t-digest.ts';
import type { AnomalyEvent } from './anomaly-event.ts';
import { coldRequests, failedRequests } from './counted-requests.ts';
import type { DetectOptions } from './detect-options.ts';
import { coldStarts, failures } from './proportion.ts';
import type { UsualOf } from './proportion-detector.ts';
import { ProportionDetectors } from './proportion-detectors.ts';
import type { TailBeside } from './rate-event.ts';
import type { StepContext } from './series-detector.ts';
import { SloBurnDetectors } from './slo-burn-detectors.ts';
import { TrafficDetector } from './traffic-detector.ts';

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
  readonly #usualOf: UsualOf;
  readonly #failures: ProportionDetectors;
  /** Of a warm series and its cold starts together, by the key of the warm one. */
  readonly #coldStarts: ProportionDetectors;
  /** Whether there was a cold start of any series: where there is none nothing is kept for them. */
  #knowsColdStarts = false;
  readonly #traffic = new OrderedMap<TrafficDetector>();
  readonly #slos: SloBurnDetectors;
  readonly #trafficPool: PeakPool = { peaks: 0, excess: 0 };
  #startMs = Number.NaN;
  /** Whether all series of the step were there before it: each can be judged when its turn has come. */
  #isAllKnown = false;
  #failing: AnomalyEvent[] = [];
  /** Requests of each model in the step, and of all. */
  readonly #requests = new Map<string, number>();
  #allRequests = 0;

  constructor(options: DetectOptions, usualOf: UsualOf) {
    this.#options = options;
    this.#usualOf = usualOf;
    this.#failures = new ProportionDetectors(failures, options, usualOf);
    this.#coldStarts = new ProportionDetectors(coldStarts, options, usualOf);
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
  take(told: AnomalyEvent): void {
    const proportions = this.#proportionsOf(told);
    if (proportions !== undefined) proportions.take(told);
    else if (told.kind === 'slo_burn') this.#slos.take(told);
    else this.#traffic.get(told.model)?.take(told);
  }

  /** As `AnomalyTrack.reconcile`, of all of these kinds. */
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
  carryOne(state: StateArchive, series: Series, key: string): void {
    for (const proportions of this.#proportions) proportions.carryOne(state, series, key);
  }

  /** What is of one model alone. */
  carryModel(state: StateArchive, model: string): void {
    const carried =
      this.#traffic.get(model) ?? new TrafficDetector(model, this.#options, this.#trafficPool);
    carried.carry(state);
    this.#traffic.set(model, carried);
  }

  /** What series and models share, once all are there. */
  carryShared(state: StateArchive): void {
    state.section('what rates share', 3, () => {
      this.#slos.carry(state);
      for (const proportions of this.#proportions) proportions.carryShared(state);
      this.#knowsColdStarts = state.flag(this.#knowsColdStarts);
      this.#trafficPool.peaks = state.number(this.#trafficPool.peaks);
      this.#trafficPool.excess = state.number(this.#trafficPool.excess);
    });
  }

  /** Takes the requests of a model in a block of the longer past; blocks come in order, before any window. */
  recall(model: string, startMs: number, requests: number): void {
    this.#trafficOf(model)?.recall(startMs, requests);
  }

  /** There is nothing more to recall up to then. */
  recallUntil(endMs: number): void {
    for (const detector of this.#traffic.values()) detector.recallUntil(endMs);
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

  /**
   * Begins a step, in which `stepSeries` follows for each series, in the order of their keys, but those that are
   * forgotten; then `end`.
   *
   * @param present the window of each series that has one, by its key.
   * @param seriesCount how many series there are.
   */
  begin(present: ReadonlyMap<string, SeriesWindow>, startMs: number, seriesCount: number): void {
    this.#startMs = startMs;
    this.#failing = [];
    this.#allRequests = 0;
    this.#requests.clear();
    let last: string | undefined;
    for (const { series } of present.values()) {
      this.#knowsColdStarts ||= series.cold_start;
      // In the order in which they are met.
      if (series.model !== last) this.#requests.set(series.model, 0);
      last = series.model;
    }
    // A series that is new begins with what the one before knew until now, unless that is forgotten in this step.
    this.#isAllKnown = this.#failures.size === seriesCount;
  }

  stepSeries(key: string, window: SeriesWindow | undefined, context: StepContext): void {
    const whole = window && wholeRequest(window);
    if (window !== undefined && whole !== undefined) {
      const { model } = window.series;
      this.#requests.set(model, (this.#requests.get(model) ?? 0) + whole.requests);
      this.#allRequests += whole.requests;
    }
    if (!this.#isAllKnown) return;
    const failed = failedRequests(window);
    const event = this.#failures.stepOne(key, this.#startMs, failed, context);
    if (event !== undefined) this.#failing.push(event);
  }

  end(present: ReadonlyMap<string, SeriesWindow>, context: StepContext): AnomalyEvent[] {
    const startMs = this.#startMs;
    const events = this.#failing;
    if (!this.#isAllKnown) {
      for (const [key, { series }] of present) this.#failures.know(series, key);
      const ofWindow = (key: string) => failedRequests(present.get(key));
      events.push(...this.#failures.step(startMs, ofWindow, context));
    }
    events.push(...this.#stepColdStarts(present, startMs, context));
    events.push(...this.#stepTraffic(present, startMs, context));
    const tailOf = (model: string) => this.#tailBeside(model, present);
    events.push(...this.#slos.step(present, startMs, context, tailOf));
    return events.sort((a, b) => (a.dedup_key < b.dedup_key ? -1 : 1));
  }

  #stepColdStarts(
    present: ReadonlyMap<string, SeriesWindow>,
    startMs: number,
    context: StepContext,
  ): AnomalyEvent[] {
    if (!this.#knowsColdStarts) return [];
    const cold = new Map<string, SeriesWindow>();
    for (const [key, window] of present) {
      const { series } = window;
      if (!series.cold_start) this.#coldStarts.know(series, key);
      else cold.set(seriesKey({ ...series, cold_start: false }), window);
    }
    const ofBoth = (key: string) => coldRequests(present.get(key), cold.get(key));
    return this.#coldStarts.step(startMs, ofBoth, context);
  }

  #stepTraffic(
    present: ReadonlyMap<string, SeriesWindow>,
    startMs: number,
    context: StepContext,
  ): AnomalyEvent[] {
    const requests = this.#requests;
    const all = this.#allRequests;
    for (const model of requests.keys()) this.#trafficOf(model);
    if (requests.size > 0) this.#trafficOf(ofAllModels);
    const events: AnomalyEvent[] = [];
    for (const model of this.#traffic.sortedKeys()) {
      const detector = this.#traffic.get(model) as TrafficDetector;
      const window = {
        startMs,
        requests: model === ofAllModels ? all : (requests.get(model) ?? 0),
        isSilentEverywhere: all === 0,
        tail: () => this.#tailBeside(model, present),
      };
      events.push(...detector.step(window, context));
      if (detector.isForgettable(startMs)) this.#traffic.delete(model);
    }
    return events;
  }

  /** What requests of a model take, all its series together: now, and usually. */
  #tailBeside(model: string, present: ReadonlyMap<string, SeriesWindow>): TailBeside {
    const now: TDigest[] = [];
    const usual: TDigest[] = [];
    for (const window of present.values()) {
      if (model !== ofAllModels && window.series.model !== model) continue;
      const whole = wholeRequest(window);
      if (whole !== undefined) now.push(whole.digest);
      const before = this.#usualOf(window.series);
      if (before !== undefined) usual.push(before);
    }
    const merged = (all: TDigest[]) => (all.length === 0 ? undefined : TDigest.merge(all));
    return { now: merged(now), usual: merged(usual) };
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
