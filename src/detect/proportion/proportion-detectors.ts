import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import { seriesKey, seriesOf, unversionedKey } from '../../series/series-key.ts';
import type { Series } from '../../series/series-window.ts';
import { type StateArchive, UnreadableState } from '../../snapshot/archive.ts';
import { KeyedDetectors } from '../lifecycle/keyed-detectors.ts';
import type { DetectOptions } from '../options/detect-options.ts';
import type { StepContext } from '../options/detector-step.ts';
import { PeakPool } from '../score/peak-pool.ts';
import type { CountedRequests, Proportion } from './proportion.ts';
import { type BaselineOf, ProportionDetector } from './proportion-detector.ts';

/** One proportion of the requests of every series. */
export class ProportionDetectors extends KeyedDetectors<ProportionDetector> {
  override readonly kinds: readonly AnomalyEvent['kind'][];
  readonly #proportion: Proportion;
  readonly #options: DetectOptions;
  /** The newest series of each model, whatever its version: the next one inherits its state. */
  readonly #newest = new Map<string, ProportionDetector>();
  readonly #pool = new PeakPool();

  constructor(proportion: Proportion, options: DetectOptions) {
    super();
    this.kinds = [proportion.kind];
    this.#proportion = proportion;
    this.#options = options;
  }

  /** Serializes the state of one series, if there is any. */
  serializeOne(state: StateArchive, series: Series, key: string): void {
    state.optional(this.detectors.get(key), (saved) => {
      const restored = saved ?? this.#newDetector(series, undefined);
      restored.serialize(state);
      this.detectors.set(key, restored);
      return restored;
    });
  }

  /** Comes after all series. */
  serializeShared(state: StateArchive): void {
    this.#pool.serialize(state);
    const newest = [...this.#newest.values()].map(({ series }) => seriesKey(series));
    for (const key of state.list(newest, (one = '') => state.text(one))) {
      const detector = this.detectors.get(key);
      if (detector === undefined) {
        throw new UnreadableState(`it has no ${this.#proportion.kind} of ${key}`);
      }
      this.#newest.set(unversionedKey(detector.series), detector);
    }
  }

  forget(key: string): void {
    const detector = this.detectors.get(key);
    if (detector === undefined) return;
    this.detectors.delete(key);
    const model = unversionedKey(detector.series);
    if (this.#newest.get(model) === detector) this.#newest.delete(model);
  }

  /** As `PeakPool.publishShared`. */
  publishShared(): void {
    this.#pool.publishShared();
  }

  /** Returns the detector of a series, created where needed. */
  register(series: Series, key: string): ProportionDetector {
    let detector = this.detectors.get(key);
    if (detector === undefined) {
      const model = unversionedKey(series);
      detector = this.#newDetector(series, this.#newest.get(model));
      this.detectors.set(key, detector);
      this.#newest.set(model, detector);
    }
    return detector;
  }

  /** Evaluates one step of all series, in the order of their keys. */
  step(
    startMs: number,
    counted: (key: string) => CountedRequests | undefined,
    context: StepContext,
    baselineOf: BaselineOf,
  ): AnomalyEvent[] {
    const events: AnomalyEvent[] = [];
    for (const key of this.detectors.sortedKeys()) {
      const event = this.get(key)?.step(startMs, counted(key), context, baselineOf);
      if (event !== undefined) events.push(event);
    }
    return events;
  }

  protected override keyOf(event: AnomalyEvent): string {
    return seriesKey(event);
  }

  protected override ofEvent(event: AnomalyEvent): ProportionDetector {
    return this.register(seriesOf(event), seriesKey(event));
  }

  #newDetector(series: Series, before: ProportionDetector | undefined): ProportionDetector {
    return new ProportionDetector(this.#proportion, series, this.#options, this.#pool, before);
  }
}
