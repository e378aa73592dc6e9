import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import type { SeriesWindow } from '../../series/series-window.ts';
import { wholeRequest } from '../../series/whole-request.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import type { TailDigests } from '../event/rate-event.ts';
import { KeyedDetectors } from '../lifecycle/keyed-detectors.ts';
import type { DetectOptions } from '../options/detect-options.ts';
import type { DetectorStep, StepContext } from '../options/detector-step.ts';
import { PeakPool } from '../score/peak-pool.ts';
import { TrafficDetector } from './traffic-detector.ts';

/** Limit of models whose traffic is evaluated: backfilled ones count for a day after their last request. */
const maxModels = 2_000;

/** Key of all models together. */
export const ofAllModels = '';

/** Traffic of every model, and of all together. */
export class TrafficDetectors extends KeyedDetectors<TrafficDetector> {
  override readonly kinds = ['no_data', 'throughput_drop'] as const;
  readonly #options: DetectOptions;
  readonly #pool = new PeakPool();

  constructor(options: DetectOptions) {
    super();
    this.#options = options;
  }

  serializeOne(state: StateArchive, model: string): void {
    const restored = this.detectors.get(model) ?? this.#newDetector(model);
    restored.serialize(state);
    this.detectors.set(model, restored);
  }

  serializeShared(state: StateArchive): void {
    this.#pool.serialize(state);
  }

  /** As `PeakPool.publishShared`. */
  publishShared(): void {
    this.#pool.publishShared();
  }

  /** As `TrafficDetector.backfill`. */
  backfill(model: string, startMs: number, requests: number): void {
    this.#of(model)?.backfill(startMs, requests);
  }

  backfillUntil(endMs: number): void {
    for (const detector of this.detectors.values()) detector.backfillUntil(endMs);
  }

  /** As `Detector.silentUntil`. */
  silentUntil(untilMs: number, context: StepContext): AnomalyEvent[] {
    return this.detectors.get(ofAllModels)?.silentUntil(untilMs, context) ?? [];
  }

  /** Counts all series, also those without a slot: a lost slot must not look like lost traffic. */
  step(
    { offered, startMs, context }: DetectorStep,
    tailOf: (model: string) => TailDigests,
  ): AnomalyEvent[] {
    const requests = requestsByModel(offered);
    let all = 0;
    for (const [model, ofModel] of requests) {
      this.#of(model);
      all += ofModel;
    }
    if (requests.size > 0) this.#of(ofAllModels);
    const events: AnomalyEvent[] = [];
    for (const model of this.detectors.sortedKeys()) {
      const detector = this.detectors.get(model) as TrafficDetector;
      const window = {
        startMs,
        requests: model === ofAllModels ? all : (requests.get(model) ?? 0),
        isSilentEverywhere: all === 0,
        tail: () => tailOf(model),
      };
      events.push(...detector.step(window, context));
      if (detector.isForgettable(startMs)) this.detectors.delete(model);
    }
    return events;
  }

  protected override keyOf({ model }: AnomalyEvent): string {
    return model;
  }

  protected override ofEvent({ model }: AnomalyEvent): TrafficDetector | undefined {
    return this.#of(model);
  }

  #of(model: string): TrafficDetector | undefined {
    let detector = this.detectors.get(model);
    if (detector === undefined && this.detectors.size <= maxModels) {
      detector = this.#newDetector(model);
      this.detectors.set(model, detector);
    }
    return detector;
  }

  #newDetector(model: string): TrafficDetector {
    return new TrafficDetector(model, this.#options, this.#pool);
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
