import type { AnomalyEvent } from '../contract/anomaly-event.ts';
import { Detector } from '../detect/detector.ts';
import type { DetectOptions } from '../detect/options/detect-options.ts';
import type { StepInput } from '../detect/step-evaluator.ts';
import type { WindowsAt } from '../sink/windows/each-window.ts';

/** Time from a window's end to its evaluation, in event time; only `detected_at` depends on it. */
const EVALUATED_AFTER_MS = 2_000;

/** Replays past windows under a configuration. Pure: the same windows, the same anomalies. */
export class Backtest {
  readonly #windowMs: number;
  readonly #options: DetectOptions;
  /** Backfill it, and warm it up, before the first `evaluate`. After a gap between windows it is a new one. */
  detector: Detector;
  #nextMs: number | undefined;
  readonly #explained: (event: AnomalyEvent) => AnomalyEvent;
  readonly #events = new Map<string, AnomalyEvent>();
  readonly counts = { windows: 0, seriesWindows: 0, emitted: 0 };

  /** @param explained adds the drivers of slow requests, where known. */
  constructor(options: DetectOptions, explained = (event: AnomalyEvent) => event) {
    this.#options = options;
    this.#windowMs = options.window;
    this.#explained = explained;
    this.detector = new Detector(options);
  }

  /** Evaluates windows. Those of an `eachBlock` together are faster than one by one, with the same events. */
  evaluate(all: readonly WindowsAt[]): void {
    let steps: StepInput[] = [];
    for (const { startMs, windows } of all) {
      if (startMs !== (this.#nextMs ?? startMs)) {
        this.#observe(steps);
        steps = [];
        this.detector = new Detector(this.#options);
      }
      this.#nextMs = startMs + this.#windowMs;
      this.counts.windows++;
      this.counts.seriesWindows += windows.length;
      steps.push({ startMs, nowMs: this.#nextMs + EVALUATED_AFTER_MS, windows });
    }
    this.#observe(steps);
  }

  #observe(steps: readonly StepInput[]): void {
    for (const event of this.detector.observeAll(steps)) {
      // Skips the members of an incident, which is counted as one.
      if (event.incident_id !== undefined) continue;
      this.counts.emitted++;
      this.#events.set(event.id, this.#explained(event));
    }
  }

  /** Last event of each anomaly, in the order of their starts. */
  get anomalies(): AnomalyEvent[] {
    return [...this.#events.values()].sort(
      (a, b) => Date.parse(a.started_at) - Date.parse(b.started_at) || (a.id < b.id ? -1 : 1),
    );
  }
}

/**
 * Difference between two lists of anomalies. Two of one series and kind are the same if they overlap. Two
 * incidents are the same if model and stage are.
 */
export interface Difference {
  readonly both: readonly AnomalyEvent[];
  readonly added: readonly AnomalyEvent[];
  readonly gone: readonly AnomalyEvent[];
}

export function differenceOf(
  then: readonly AnomalyEvent[],
  now: readonly AnomalyEvent[],
): Difference {
  const isIn = (among: readonly AnomalyEvent[]) => (event: AnomalyEvent) =>
    among.some((each) => isSame(each, event) && overlap(each, event));
  return {
    both: now.filter(isIn(then)),
    added: now.filter((event) => !isIn(then)(event)),
    gone: then.filter((event) => !isIn(now)(event)),
  };
}

function isSame(a: AnomalyEvent, b: AnomalyEvent): boolean {
  const isShared = a.scope !== undefined || b.scope !== undefined;
  return a.dedup_key === b.dedup_key || (isShared && a.group_key === b.group_key);
}

function overlap(a: AnomalyEvent, b: AnomalyEvent): boolean {
  return Date.parse(a.started_at) <= endOf(b) && Date.parse(b.started_at) <= endOf(a);
}

function endOf({ resolved_at }: AnomalyEvent): number {
  return resolved_at === null ? Number.POSITIVE_INFINITY : Date.parse(resolved_at);
}
