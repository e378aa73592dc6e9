import { minuteMs } from '../../base/time.ts';
import type { SeriesWindow } from '../../series/series-window.ts';
import { wholeRequest } from '../../series/whole-request.ts';
import type { WindowRange } from '../../sink/windows/window-range.ts';
import type { Completeness } from './completeness/completeness.ts';

/** Tuned by test/roles/detect/late-requests.test.ts. */
const lateTuned = {
  /** A window with a larger share of late requests is re-evaluated. */
  share: 0.01,
  /** Fewer late requests in total are ignored. */
  leastRequests: 10,
  /** Windows are remembered for this long after evaluation; older ones stay as they are. */
  rememberedMs: 30 * minuteMs,
  /** Interval of queries for late requests. */
  queryEveryMs: 30_000,
  /** Pause after a re-evaluation. */
  pauseMs: 5 * minuteMs,
  /** Pause in multiples of its duration, so that it uses at most a twentieth of the time. */
  pauseTimes: 20,
} as const;

/** Windows to re-evaluate. */
export interface Reevaluation {
  /** Start of the first window with late requests. */
  readonly fromMs: number;
  /** Number of windows with late requests, without those that are older than every snapshot. */
  readonly windows: number;
  readonly tooOld: number;
}

/**
 * Remembers the requests of each evaluated window, and selects windows to re-evaluate: those that received
 * over 1 % more since. It waits while a partition is behind, because the backlog arrives together.
 *
 * Memory: one number per window of half an hour.
 */
export class LateRequests {
  /** Requests of each evaluated window, by its start. */
  readonly #evaluated = new Map<number, number>();
  /** The first window with missing requests. Snapshots before it are kept until its re-evaluation. */
  #missingFromMs: number | undefined;
  #nextQueryMs = Number.NEGATIVE_INFINITY;
  #nextReevaluationMs = Number.NEGATIVE_INFINITY;

  /**
   * Records a window's evaluation or re-evaluation.
   *
   * @param isPart true if a stalled partition was left out.
   */
  record(startMs: number, windows: readonly SeriesWindow[], isPart = false): void {
    this.#evaluated.set(startMs, requestsOf(windows));
    if (isPart) this.#missingFromMs ??= startMs;
    for (const knownMs of this.#evaluated.keys()) {
      if (knownMs <= startMs - lateTuned.rememberedMs) this.#evaluated.delete(knownMs);
    }
  }

  /** The remembered windows, of which there is at least one. */
  remembered(windowMs: number): WindowRange {
    const starts = [...this.#evaluated.keys()];
    return { fromMs: Math.min(...starts), toMs: Math.max(...starts) + windowMs, windowMs };
  }

  /** True if a snapshot as of then would replace one that a re-evaluation needs. */
  holdsSnapshots(asOfMs: number): boolean {
    return (
      this.#missingFromMs !== undefined && asOfMs - this.#missingFromMs < lateTuned.rememberedMs
    );
  }

  /** True if the table must be queried now. */
  isDue(nowMs: number, { behind, kafkaOutage }: Completeness): boolean {
    if (behind.length > 0 || kafkaOutage !== undefined || this.#evaluated.size === 0) return false;
    return nowMs >= this.#nextQueryMs;
  }

  /**
   * Returns the windows to re-evaluate now; undefined for none.
   *
   * @param requests current requests of the remembered windows, by start.
   * @param snapshotsMs times of the snapshots; windows before the first stay as they are.
   */
  select(
    nowMs: number,
    requests: ReadonlyMap<number, number>,
    snapshotsMs: readonly number[],
  ): Reevaluation | undefined {
    this.#nextQueryMs = nowMs + lateTuned.queryEveryMs;
    const grown = [...this.#evaluated]
      .map(([startMs, before]) => ({
        startMs,
        before,
        late: (requests.get(startMs) ?? 0) - before,
      }))
      .filter(({ before, late }) => late > lateTuned.share * before)
      .sort((a, b) => a.startMs - b.startMs);
    const sum = grown.reduce((all, { late }) => all + late, 0);
    const [first] = grown;
    if (first === undefined || sum < lateTuned.leastRequests) {
      this.#missingFromMs = undefined;
      return undefined;
    }
    this.#missingFromMs = Math.min(first.startMs, this.#missingFromMs ?? first.startMs);
    if (nowMs < this.#nextReevaluationMs) return undefined;
    this.#missingFromMs = undefined;
    // The same late requests do not cause another re-evaluation.
    for (const { startMs } of grown) this.#evaluated.set(startMs, requests.get(startMs) ?? 0);
    const oldestMs = Math.min(Number.POSITIVE_INFINITY, ...snapshotsMs);
    const reached = grown.filter(({ startMs }) => startMs >= oldestMs);
    return {
      fromMs: reached[0]?.startMs ?? Number.POSITIVE_INFINITY,
      windows: reached.length,
      tooOld: grown.length - reached.length,
    };
  }

  /** Records the end and duration of a re-evaluation. */
  finished(nowMs: number, tookMs: number): void {
    this.#nextReevaluationMs = nowMs + Math.max(lateTuned.pauseMs, lateTuned.pauseTimes * tookMs);
  }
}

/** Requests of all series, each by the stage that represents its whole requests. */
function requestsOf(windows: readonly SeriesWindow[]): number {
  return windows.reduce((sum, window) => sum + (wholeRequest(window)?.requests ?? 0), 0);
}
