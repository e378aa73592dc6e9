import type { AnomalyEvent } from '../contract/anomaly-event.ts';
import { seriesKey } from '../series/series-key.ts';
import type { Series, SeriesWindow } from '../series/series-window.ts';
import { wholeRequest } from '../series/whole-request.ts';
import { TDigest } from '../sketch/t-digest.ts';
import type { StateArchive } from '../snapshot/archive.ts';
import type { TailDigests } from './event/rate-event.ts';
import type { KeyedDetectors } from './lifecycle/keyed-detectors.ts';
import type { DetectOptions } from './options/detect-options.ts';
import type { DetectorStep } from './options/detector-step.ts';
import { coldRequests, coldStarts, failedRequests, failures } from './proportion/proportion.ts';
import type { BaselineOf } from './proportion/proportion-detector.ts';
import { ProportionDetectors } from './proportion/proportion-detectors.ts';
import { SloBurnDetectors } from './slo/slo-burn-detectors.ts';
import { ofAllModels, TrafficDetectors } from './traffic/traffic-detectors.ts';

/**
 * Detectors of all kinds that are not of durations: failures and cold starts of series, traffic of models,
 * and objectives. They see the same windows as the tail detectors, in the same order.
 */
export class RateDetectors {
  readonly #failures: ProportionDetectors;
  /** Detectors of a warm series and its cold starts together, by the key of the warm series. */
  readonly #coldStarts: ProportionDetectors;
  readonly #proportions: readonly ProportionDetectors[];
  /** True since the first cold start of any series: before, no detectors of cold starts are created. */
  #hasColdStarts = false;
  /** Drops and silence of models. */
  readonly traffic: TrafficDetectors;
  readonly slos: SloBurnDetectors;

  constructor(options: DetectOptions) {
    this.#failures = new ProportionDetectors(failures, options);
    this.#coldStarts = new ProportionDetectors(coldStarts, options);
    this.#proportions = [this.#failures, this.#coldStarts];
    this.traffic = new TrafficDetectors(options);
    this.slos = new SloBurnDetectors(options);
  }

  /** Tests that share the budget of false pages. */
  get testCount(): number {
    return this.#failures.size + this.#coldStarts.size + this.traffic.size;
  }

  /** Detectors of each kind. */
  get kinds(): readonly KeyedDetectors[] {
    return [...this.#proportions, this.traffic, this.slos];
  }

  serializeOne(state: StateArchive, series: Series, key: string): void {
    for (const proportions of this.#proportions) proportions.serializeOne(state, series, key);
  }

  putInOrder(series: readonly string[], models: readonly string[]): void {
    for (const proportions of this.#proportions) proportions.putInOrder(series);
    this.traffic.putInOrder(models);
  }

  serializeShared(state: StateArchive): void {
    state.section('what rates share', 5, () => {
      this.slos.serialize(state);
      for (const proportions of this.#proportions) proportions.serializeShared(state);
      this.#hasColdStarts = state.flag(this.#hasColdStarts);
      this.traffic.serializeShared(state);
    });
  }

  isOpen(key: string): boolean {
    return this.#proportions.some((proportions) => proportions.isOpen(key));
  }

  forget(key: string): void {
    for (const proportions of this.#proportions) proportions.forget(key);
  }

  publishShared(): void {
    for (const proportions of this.#proportions) proportions.publishShared();
    this.traffic.publishShared();
  }

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

  evaluateSeries(
    key: string,
    window: SeriesWindow | undefined,
    { startMs, context }: DetectorStep,
    baselineOf: BaselineOf,
  ): AnomalyEvent | undefined {
    const detector = this.#failures.get(key);
    return detector?.step(startMs, failedRequests(window), context, baselineOf);
  }

  /**
   * Evaluates one step of the detectors that span several series.
   *
   * @param baselineOf as of the end of the step; called only for an event.
   */
  evaluate(step: DetectorStep, baselineOf: BaselineOf): AnomalyEvent[] {
    const { offered, present, startMs, context } = step;
    const tailOf = (model: string) => tailDigests(model, present, baselineOf);
    return [
      ...this.#stepColdStarts(step, baselineOf),
      ...this.traffic.step(step, tailOf),
      ...this.slos.step(offered, startMs, context, tailOf),
    ];
  }

  #stepColdStarts({ present, startMs, context }: DetectorStep, baselineOf: BaselineOf) {
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
