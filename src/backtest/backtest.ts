import { Detector, type TrafficBlock } from '../detect/detector.ts';
import type { SeriesHour } from '../detect/drift/drift-detectors.ts';
import type { AnomalyEvent } from '../detect/event/anomaly-event.ts';
import type { DetectOptions } from '../detect/options/detect-options.ts';
import type { WindowsAt } from '../sink/windows/each-window.ts';

/** How long after its end a window is judged, in event time: it moves `detected_at` and nothing else. */
const JUDGED_AFTER_MS = 2_000;

/**
 * What a configuration would have told of windows of the past. Pure: the same windows, the same
 * anomalies.
 */
export class Backtest {
  readonly #windowMs: number;
  readonly #detector: Detector;
  readonly #explained: (event: AnomalyEvent) => AnomalyEvent;
  readonly #events = new Map<string, AnomalyEvent>();
  readonly counts = { windows: 0, seriesWindows: 0, emitted: 0 };

  /** @param explained adds what slow requests have in common, where that is known. */
  constructor(options: DetectOptions, explained = (event: AnomalyEvent) => event) {
    this.#windowMs = options.window;
    this.#explained = explained;
    this.#detector = new Detector(options);
  }

  /** How much of the past before the first window the detector should learn from. */
  get historyMs(): number {
    return this.#detector.historyMs;
  }

  /** How much traffic there was long before, up to the windows that it learns from. */
  backfillTraffic(blocks: Iterable<TrafficBlock>, untilMs: number): void {
    this.#detector.backfillTraffic(blocks, untilMs);
  }

  /** How long requests took long before, hour by hour, up to the windows that it learns from. */
  backfillHours(hours: Iterable<SeriesHour>): void {
    this.#detector.backfillHours(hours);
  }

  /** Learns from windows, and tells nothing. Those that are judged come later. */
  warmUp(all: readonly WindowsAt[]): void {
    this.#detector.warmUpAll(all.map(({ windows }) => windows));
  }

  /** Judges windows; those of `eachBlock` together are faster than one by one, and tell the same. */
  judge(all: readonly WindowsAt[]): void {
    const steps = all.map(({ startMs, windows }) => {
      this.counts.windows++;
      this.counts.seriesWindows += windows.length;
      return { startMs, nowMs: startMs + this.#windowMs + JUDGED_AFTER_MS, windows };
    });
    for (const event of this.#detector.observeAll(steps)) {
      // A series of an anomaly that is told as a whole.
      if (event.incident_id !== undefined) continue;
      this.counts.emitted++;
      this.#events.set(event.id, this.#explained(event));
    }
  }

  /** The last event of each anomaly, in the order in which they began. */
  get anomalies(): AnomalyEvent[] {
    return [...this.#events.values()].sort(
      (a, b) => Date.parse(a.started_at) - Date.parse(b.started_at) || (a.id < b.id ? -1 : 1),
    );
  }
}

/**
 * How two lists of anomalies differ: those of one series and kind that overlap are the same, and those over several
 * series whose model and stage are the same, whichever of the series was first.
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
