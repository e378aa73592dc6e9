import { OrderedMap } from '../base/ordered-map.ts';
import { seriesKey, unversionedKey } from '../baseline/series-key.ts';
import { seriesOf } from '../baseline/series-of.ts';
import type { Series, SeriesWindow } from '../baseline/series-window.ts';
import type { StateArchive } from '../baseline/state-archive.ts';
import type { PeakPool } from '../baseline/tail-peaks.ts';
import { UnreadableState } from '../baseline/unreadable-state.ts';
import { wholeRequest } from '../baseline/whole-request.ts';
import { TDigest } from '../sketch/t-digest.ts';
import type { AnomalyEvent } from './anomaly-event.ts';
import type { DetectOptions } from './detect-options.ts';
import { ErrorRateDetector, type UsualOf } from './error-rate-detector.ts';
import type { TailBeside } from './rate-event.ts';
import type { StepContext } from './series-detector.ts';
import { SloBurnDetectors } from './slo-burn-detectors.ts';
import { TrafficDetector } from './traffic-detector.ts';

/** More models than series are judged have none: these are kept of a longer past. */
const maxModels = 2_000;
const ofAllModels = '';

/**
 * All anomalies that are no durations: how much of each series fails, and how much traffic each model
 * has. They see the same windows as the tails' detectors, in the same order, and are opened, followed and
 * resolved alike.
 */
export class RateDetectors {
  readonly #options: DetectOptions;
  readonly #usualOf: UsualOf;
  readonly #errors = new OrderedMap<ErrorRateDetector>();
  /** The newest series of each model, whatever its version: the next one begins with what it knows. */
  readonly #newest = new Map<string, ErrorRateDetector>();
  readonly #errorPool: PeakPool = { peaks: 0, excess: 0 };
  readonly #traffic = new OrderedMap<TrafficDetector>();
  readonly #slos: SloBurnDetectors;
  readonly #trafficPool: PeakPool = { peaks: 0, excess: 0 };

  constructor(options: DetectOptions, usualOf: UsualOf) {
    this.#options = options;
    this.#usualOf = usualOf;
    this.#slos = new SloBurnDetectors(options);
  }

  /** Tests that share the budget of false pages. */
  get testCount(): number {
    return this.#errors.size + this.#traffic.size;
  }

  /** Windows of series that an objective should have judged and could not. */
  get windowsBeyondLimit(): number {
    return this.#slos.windowsBeyondLimit;
  }

  restore(event: AnomalyEvent): void {
    const series = seriesOf(event);
    if (event.kind === 'error_rate') this.#errorsOf(series, seriesKey(series)).restore(event);
    else if (event.kind === 'slo_burn') this.#slos.restore(event);
    else this.#trafficOf(series.model)?.restore(event);
  }

  /** What others have told counts, if it is the same event of the same anomaly. */
  take(told: AnomalyEvent): void {
    if (told.kind === 'error_rate') this.#errors.get(seriesKey(told))?.take(told);
    else if (told.kind === 'slo_burn') this.#slos.take(told);
    else this.#traffic.get(told.model)?.take(told);
  }

  /** As `AnomalyTrack.reconcile`, of all of these kinds. */
  reconcile(open: readonly AnomalyEvent[], isKnown: (id: string) => boolean): void {
    const failing = new Map<string, AnomalyEvent>();
    const stopped = new Map<string, AnomalyEvent[]>();
    const isBurn = ({ kind }: AnomalyEvent) => kind === 'slo_burn';
    this.#slos.reconcile(open.filter(isBurn), isKnown);
    const others = open.filter((event) => !isBurn(event));
    for (const event of others) {
      if (event.kind === 'error_rate') failing.set(seriesKey(event), event);
      else stopped.set(event.model, [...(stopped.get(event.model) ?? []), event]);
    }
    for (const [key, detector] of this.#errors) detector.reconcile(failing.get(key), isKnown);
    for (const [model, detector] of this.#traffic) {
      detector.reconcile(stopped.get(model) ?? [], isKnown);
    }
    const isNew = ({ kind, model }: AnomalyEvent, key: string) =>
      kind === 'error_rate' ? !this.#errors.has(key) : !this.#traffic.has(model);
    const unknown = others.filter((event) => isNew(event, seriesKey(event)));
    for (const event of unknown) this.restore(event);
  }

  /** Models whose traffic is judged, in order; '' for all of them. */
  get models(): Iterable<string> {
    return this.#traffic.keys();
  }

  /** What is of one series alone, if there is anything. */
  carryOne(state: StateArchive, series: Series, key: string): void {
    state.optional(this.#errors.get(key), (saved) => {
      const carried = saved ?? this.#newErrors(series, undefined);
      carried.carry(state);
      this.#errors.set(key, carried);
      return carried;
    });
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
    state.section('what rates share', 2, () => {
      this.#slos.carry(state);
      for (const pool of [this.#errorPool, this.#trafficPool]) {
        pool.peaks = state.number(pool.peaks);
        pool.excess = state.number(pool.excess);
      }
      const newest = [...this.#newest.values()].map(({ series }) => seriesKey(series));
      for (const key of state.list(newest, (one = '') => state.text(one))) {
        const detector = this.#errors.get(key);
        if (detector === undefined) throw new UnreadableState(`it has no failures of ${key}`);
        this.#newest.set(unversionedKey(detector.series), detector);
      }
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
    return this.#errors.get(key)?.isOpen === true;
  }

  forget(key: string): void {
    const detector = this.#errors.get(key);
    if (detector === undefined) return;
    this.#errors.delete(key);
    const model = unversionedKey(detector.series);
    if (this.#newest.get(model) === detector) this.#newest.delete(model);
  }

  /** @param present the window of each series that has one, by its key. */
  step(
    present: ReadonlyMap<string, SeriesWindow>,
    startMs: number,
    context: StepContext,
  ): AnomalyEvent[] {
    for (const [key, { series }] of present) this.#errorsOf(series, key);
    const events: AnomalyEvent[] = [];
    // In the same order whoever judges: what they share is learnt in it.
    for (const key of this.#errors.sortedKeys()) {
      const detector = this.#errors.get(key) as ErrorRateDetector;
      const window = present.get(key);
      const event =
        window === undefined
          ? detector.missing(startMs, context)
          : detector.step(window, context, this.#usualOf);
      if (event !== undefined) events.push(event);
    }
    events.push(...this.#stepTraffic(present, startMs, context));
    const tailOf = (model: string) => this.#tailBeside(model, present);
    events.push(...this.#slos.step(present, startMs, context, tailOf));
    return events.sort((a, b) => (a.dedup_key < b.dedup_key ? -1 : 1));
  }

  #stepTraffic(
    present: ReadonlyMap<string, SeriesWindow>,
    startMs: number,
    context: StepContext,
  ): AnomalyEvent[] {
    const requests = new Map<string, number>();
    let all = 0;
    for (const window of present.values()) {
      const { model } = window.series;
      const count = wholeRequest(window)?.requests ?? 0;
      requests.set(model, (requests.get(model) ?? 0) + count);
      all += count;
    }
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

  #errorsOf(series: Series, key: string): ErrorRateDetector {
    let detector = this.#errors.get(key);
    if (detector === undefined) {
      const model = unversionedKey(series);
      const before = this.#newest.get(model);
      detector = this.#newErrors(series, before);
      this.#errors.set(key, detector);
      this.#newest.set(model, detector);
    }
    return detector;
  }

  #newErrors(series: Series, before: ErrorRateDetector | undefined): ErrorRateDetector {
    return new ErrorRateDetector(series, this.#options, this.#errorPool, before);
  }
}
