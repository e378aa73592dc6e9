import { attributeKey, isAttributeName, totalStage } from '../../base/dimensions.ts';
import { invariant } from '../../base/invariant.ts';
import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import {
  type ConfiguredObjective,
  isOfSeries,
  type Objective,
  objectiveOfEvent,
  objectivesOf,
  ownThreshold,
  rowOf,
} from '../../contract/objectives/objective.ts';
import { attributesText } from '../../series/attributes.ts';
import { attributesField, seriesOf } from '../../series/series-key.ts';
import {
  emptySeries,
  type ObjectiveCounts,
  type Series,
  type SeriesWindow,
  type StageSummary,
} from '../../series/series-window.ts';
import { serializeSeries } from '../../series/snapshot-series.ts';
import { wholeRequest } from '../../series/whole-request.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import type { TailDigests } from '../event/rate-event.ts';
import { KeyedDetectors } from '../lifecycle/keyed-detectors.ts';
import type { DetectOptions } from '../options/detect-options.ts';
import type { StepContext } from '../options/detector-step.ts';
import { SloBurnDetector } from './slo-burn-detector.ts';

/** Largest number of objectives × models; each takes 70 KB. */
const maxDetectors = 1_000;

interface Sum {
  readonly model: string;
  requests: number;
  bad: number;
}

/**
 * All objectives: each has a budget per model that it names. An open anomaly whose objective was removed ends
 * with `no_traffic`.
 */
export class SloBurnDetectors extends KeyedDetectors<SloBurnDetector> {
  override readonly kinds = ['slo_burn'] as const;
  readonly #options: DetectOptions;
  readonly #configured: readonly ConfiguredObjective[];
  #windowsBeyondLimit = 0;

  constructor(options: DetectOptions) {
    super();
    this.#options = options;
    this.#configured = objectivesOf(options.slos);
  }

  /** Series windows that the limit left out, since the start. */
  get windowsBeyondLimit(): number {
    return this.#windowsBeyondLimit;
  }

  serialize(state: StateArchive): void {
    this.#windowsBeyondLimit = state.number(this.#windowsBeyondLimit);
    state.list(this.detectors.values(), (saved) => {
      const objective = serializeObjective(state, saved?.objective);
      const restored = this.#of(objective, serializeSeries(state, saved?.series));
      invariant(restored !== undefined, 'more objectives were saved than are evaluated');
      restored.serialize(state);
      return restored;
    });
  }

  step(
    windows: readonly SeriesWindow[],
    startMs: number,
    context: StepContext,
    tailOf: (model: string) => TailDigests,
  ): AnomalyEvent[] {
    const sums = new Map<SloBurnDetector, Sum>();
    for (const window of windows) this.#count(window, sums);
    const events: AnomalyEvent[] = [];
    // Sorted keys make the order of events deterministic.
    for (const key of this.detectors.sortedKeys()) {
      const detector = this.detectors.get(key) as SloBurnDetector;
      const sum = sums.get(detector) ?? { requests: 0, bad: 0, model: '' };
      const event = detector.step(startMs, sum, context, () => tailOf(sum.model));
      if (event !== undefined) events.push(event);
    }
    return events;
  }

  #count(window: SeriesWindow, sums: Map<SloBurnDetector, Sum>): void {
    for (const objective of this.#configured) {
      if (!isOfSeries(objective, window.series)) continue;
      const { model } = window.series;
      const detector = this.#of(objective, { ...valuesOf(objective), model });
      const counts = countsOf(objective, window);
      if (detector === undefined) this.#windowsBeyondLimit += 1;
      if (detector === undefined || counts === undefined) continue;
      const sum = sums.get(detector) ?? { model, requests: 0, bad: 0 };
      sum.requests += counts.requests;
      sum.bad += counts.bad;
      sums.set(detector, sum);
    }
  }

  protected override keyOf(event: AnomalyEvent): string {
    const objective = objectiveOfEvent(event);
    return objective === undefined ? '' : keyOf(objective, event);
  }

  protected override ofEvent(event: AnomalyEvent): SloBurnDetector | undefined {
    const objective = objectiveOfEvent(event);
    return objective && this.#of(objective, event);
  }

  #of(objective: Objective, series: Series): SloBurnDetector | undefined {
    const key = keyOf(objective, series);
    let detector = this.detectors.get(key);
    if (detector === undefined && this.detectors.size < maxDetectors) {
      detector = new SloBurnDetector(seriesOf(series), objective, this.#options);
      this.detectors.set(key, detector);
    }
    return detector;
  }
}

function serializeObjective(state: StateArchive, objective: Objective | undefined): Objective {
  const fields = {
    name: state.text(objective?.name ?? ''),
    objective: state.number(objective?.objective ?? 0),
    windowMs: state.number(objective?.windowMs ?? 0),
    isJoint: state.flag(objective?.isJoint ?? false),
  };
  const given = Object.entries(objective?.thresholds ?? {});
  const thresholds = state.list(given, (saved): [string, number] => {
    const [stage, ms] = saved ?? ['', 0];
    return [state.text(stage), state.number(ms)];
  });
  return objective ?? { ...fields, thresholds: Object.fromEntries(thresholds) };
}

/** Values of the dimensions that an objective names without a pattern; '' for the others. */
function valuesOf({ match }: ConfiguredObjective): Series {
  const named = Object.entries(match).flatMap(([name, value]) =>
    value === undefined || value.includes('*') ? [] : [[name, value] as const],
  );
  const own = named.flatMap(([name, value]) =>
    isAttributeName(name) ? [[attributeKey(name), value] as const] : [],
  );
  const others = named.filter(([name]) => !isAttributeName(name));
  const { cold_start, ...values } = Object.fromEntries(others);
  const series = { ...emptySeries, ...values, cold_start: cold_start === 'true' };
  return { ...series, ...attributesField(attributesText(own)) };
}

/** Identifies the detector of an objective and of the values of its requests. */
function keyOf(
  { name, thresholds, objective, windowMs, isJoint }: Objective,
  series: Series,
): string {
  const { service, model, version, request_type, region, host, tenant, cold_start } = series;
  const { attributes } = series;
  const stages = Object.entries(thresholds).sort();
  return [
    ...[name, JSON.stringify(stages), objective, windowMs, isJoint],
    ...[service, model, version, request_type, region, host, tenant, cold_start],
    ...(attributes === undefined ? [] : [attributes]),
  ].join('\u0000');
}

/** Requests of a window, and those that an objective calls bad; undefined where it has none of them. */
function countsOf(objective: Objective, window: SeriesWindow): ObjectiveCounts | undefined {
  if (objective.isJoint) return window.objectives?.get(rowOf(objective));
  const { stage, thresholdMs } = ownThreshold(objective);
  const summary = stage === totalStage ? wholeRequest(window) : window.stages.get(stage);
  if (summary === undefined) return undefined;
  return { requests: summary.requests, bad: badRequests(summary, thresholdMs) };
}

/**
 * Counts requests that took longer than a threshold, or failed. The digest does not say which ones were
 * slow: timeouts are assumed to be among them, errors to be as slow as the others.
 */
export function badRequests(whole: StageSummary, thresholdMs: number): number {
  const { requests, errors, timeouts, digest } = whole;
  if (requests === 0) return 0;
  const slow = requests * (1 - digest.cdf(thresholdMs));
  return Math.min(requests, Math.max(slow, timeouts) + errors * (1 - slow / requests));
}
