import { seriesKey, unversionedKey } from '../baseline/series-key.ts';
import type { Series, SeriesWindow } from '../baseline/series-window.ts';
import type { PeakPool } from '../baseline/tail-peaks.ts';
import { wholeRequest } from '../baseline/whole-request.ts';
import { TDigest } from '../sketch/t-digest.ts';
import type { AnomalyEvent } from './anomaly-event.ts';
import type { DetectOptions } from './detect-options.ts';
import { ErrorRateDetector } from './error-rate-detector.ts';
import { eventSeries } from './event-series.ts';
import type { TailBeside } from './rate-event.ts';
import type { StepContext } from './series-detector.ts';
import { TrafficDetector } from './traffic-detector.ts';

/** What usual requests of a series take. */
export type UsualOf = (series: Series) => TDigest | undefined;

/** Models whose traffic is judged; a model of others has series that are judged. */
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
  readonly #errors = new Map<string, ErrorRateDetector>();
  /** The newest series of each model, whatever its version: the next one begins with what it knows. */
  readonly #newest = new Map<string, ErrorRateDetector>();
  readonly #errorPool: PeakPool = { peaks: 0, excess: 0 };
  readonly #traffic = new Map<string, TrafficDetector>();
  readonly #trafficPool: PeakPool = { peaks: 0, excess: 0 };

  constructor(options: DetectOptions, usualOf: UsualOf) {
    this.#options = options;
    this.#usualOf = usualOf;
  }

  /** Tests that share the budget of false pages. */
  get testCount(): number {
    return this.#errors.size + this.#traffic.size;
  }

  get open(): AnomalyEvent[] {
    const errors = [...this.#errors.values()].flatMap(({ openEvent }) => openEvent ?? []);
    return [...errors, ...[...this.#traffic.values()].flatMap(({ open }) => open)];
  }

  restore(event: AnomalyEvent): void {
    const series = eventSeries(event);
    if (event.kind === 'error_rate') this.#errorsOf(series, seriesKey(series)).restore(event);
    else this.#trafficOf(series.model)?.restore(event);
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
    for (const [key, detector] of this.#errors) {
      const window = present.get(key);
      const event =
        window === undefined
          ? detector.missing(startMs, context)
          : detector.step(window, context, () => this.#usualOf(window.series));
      if (event !== undefined) events.push(event);
    }
    events.push(...this.#stepTraffic(present, startMs, context));
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
    for (const [model, detector] of this.#traffic) {
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
      detector = new ErrorRateDetector(series, this.#options, this.#errorPool, before);
      this.#errors.set(key, detector);
      this.#newest.set(model, detector);
    }
    return detector;
  }
}
