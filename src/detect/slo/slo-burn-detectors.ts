import { invariant } from '../../base/invariant.ts';
import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import { formatExactShare, formatMs } from '../../contract/format.ts';
import { matchesPattern } from '../../series/matches-pattern.ts';
import type { Series, SeriesWindow, StageSummary } from '../../series/series-window.ts';
import { wholeRequest } from '../../series/whole-request.ts';
import { type StateArchive, serializeFields } from '../../snapshot/archive.ts';
import type { TailDigests } from '../event/rate-event.ts';
import { KeyedDetectors } from '../lifecycle/keyed-detectors.ts';
import type { DetectOptions } from '../options/detect-options.ts';
import type { StepContext } from '../options/detector-step.ts';
import type { Objective } from './burn-rules.ts';
import { SloBurnDetector } from './slo-burn-detector.ts';

/** Largest number of objectives × models; each takes 70 KB. */
const maxDetectors = 1_000;

/** An objective as configured. */
interface Configured extends Objective {
  readonly models: string;
  /** '' for any. */
  readonly requestType: string;
}

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
  readonly #configured: readonly Configured[];
  #windowsBeyondLimit = 0;

  constructor(options: DetectOptions) {
    super();
    this.#options = options;
    this.#configured = options.slos.map((slo) => ({
      name: slo.name ?? nameOf(slo),
      thresholdMs: slo.threshold,
      objective: slo.objective,
      models: slo.model,
      requestType: slo.request_type ?? '',
    }));
  }

  /** Series windows that the limit left out, since the start. */
  get windowsBeyondLimit(): number {
    return this.#windowsBeyondLimit;
  }

  serialize(state: StateArchive): void {
    this.#windowsBeyondLimit = state.number(this.#windowsBeyondLimit);
    state.list(this.detectors.values(), (saved) => {
      const { objective, series } = saved ?? {};
      const restored = this.#of(
        serializeFields(state, objective, { name: '', thresholdMs: 0, objective: 0 }),
        state.text(series?.model ?? ''),
        state.text(series?.request_type ?? ''),
      );
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
    for (const configured of this.#configured) {
      const { model, request_type } = window.series;
      const { requestType, models } = configured;
      if (requestType !== '' && requestType !== request_type) continue;
      if (!matchesPattern(models, model)) continue;
      const detector = this.#of(configured, model, requestType);
      const whole = wholeRequest(window);
      if (detector === undefined) this.#windowsBeyondLimit += 1;
      if (detector === undefined || whole === undefined) continue;
      const sum = sums.get(detector) ?? { model, requests: 0, bad: 0 };
      sum.requests += whole.requests;
      sum.bad += badRequests(whole, configured.thresholdMs);
      sums.set(detector, sum);
    }
  }

  protected override keyOf(event: AnomalyEvent): string {
    const objective = objectiveOf(event);
    return objective === undefined ? '' : keyOf(objective, event.model, event.request_type);
  }

  protected override ofEvent(event: AnomalyEvent): SloBurnDetector | undefined {
    const objective = objectiveOf(event);
    return objective && this.#of(objective, event.model, event.request_type);
  }

  #of(objective: Objective, model: string, requestType: string): SloBurnDetector | undefined {
    const key = keyOf(objective, model, requestType);
    let detector = this.detectors.get(key);
    if (detector === undefined && this.detectors.size < maxDetectors) {
      const none = { service: '', version: '', region: '', host: '', tenant: '' };
      const series: Series = { ...none, model, request_type: requestType, cold_start: false };
      detector = new SloBurnDetector(series, objective, this.#options);
      this.detectors.set(key, detector);
    }
    return detector;
  }
}

function objectiveOf({ slo }: AnomalyEvent): Objective | undefined {
  return slo && { name: slo.name, objective: slo.objective, thresholdMs: slo.threshold_ms };
}

function keyOf({ name, thresholdMs, objective }: Objective, model: string, requestType: string) {
  return [name, thresholdMs, objective, model, requestType].join('\u0000');
}

/** "99.9 % of rank* in 200 ms". */
function nameOf({ objective, model, threshold }: DetectOptions['slos'][number]): string {
  return `${formatExactShare(objective)} of ${model} in ${formatMs(threshold)}`;
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
