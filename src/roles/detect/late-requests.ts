import type { SeriesWindow } from '../../series/series-window.ts';
import { wholeRequest } from '../../series/whole-request.ts';
import type { Completeness } from './completeness/completeness.ts';

/** Numbers that tune when windows are judged again. test/roles/detect/late-requests.test.ts holds them. */
export const lateTuned = {
  /** A window that has received more than this part of its requests late is judged again. */
  share: 0.01,
  /** Fewer late requests than these, of all such windows together, say nothing. */
  leastRequests: 10,
  /** Windows are remembered for so long after they were judged: older ones are left as they are. */
  rememberedMs: 30 * 60_000,
  /** The table is asked so often. */
  lookEveryMs: 30_000,
  /** So long after windows were judged again others may be. */
  restMs: 5 * 60_000,
  /** So many times as long as judging them again took, it rests: a twentieth of the time at most goes there. */
  restTimes: 20,
} as const;

/** Windows that are to be judged again. */
export interface Again {
  /** Start of the first that has received more. */
  readonly fromMs: number;
  /** Windows that have received more. */
  readonly windows: number;
  /** Late requests of these. */
  readonly requests: number;
  /** Windows that have received more and are older than every snapshot. */
  readonly left: number;
}

/** A window that has received more requests than it was judged by. */
interface Grown {
  readonly startMs: number;
  readonly requests: number;
}

/**
 * Remembers by how many requests each window was judged, and tells which are to be judged again: those that have
 * received more than a hundredth of that since. Not while a partition is behind: what it brings comes together.
 *
 * Memory: a number for each window of half an hour.
 */
export class LateRequests {
  /** Requests by which a window was judged, by its start. */
  readonly #judged = new Map<number, number>();
  /** The first window that is known to lack requests; snapshots before it are kept until it is judged again. */
  #lackingFromMs: number | undefined;
  #nextLookMs = Number.NEGATIVE_INFINITY;
  #nextAgainMs = Number.NEGATIVE_INFINITY;

  /**
   * A window was judged, or judged again.
   *
   * @param isPart whether a partition that stands still was left out.
   */
  judged(startMs: number, windows: readonly SeriesWindow[], isPart = false): void {
    this.#judged.set(startMs, requestsOf(windows));
    if (isPart) this.#lackingFromMs ??= startMs;
    for (const knownMs of this.#judged.keys()) {
      if (knownMs <= startMs - lateTuned.rememberedMs) this.#judged.delete(knownMs);
    }
  }

  /** Starts of the first and the last window that are remembered; undefined where none is. */
  get remembered(): { readonly fromMs: number; readonly lastMs: number } | undefined {
    if (this.#judged.size === 0) return undefined;
    const starts = [...this.#judged.keys()];
    return { fromMs: Math.min(...starts), lastMs: Math.max(...starts) };
  }

  /** Whether a snapshot as of then would take the place of one that is needed to judge windows again. */
  holdsSnapshots(asOfMs: number): boolean {
    return (
      this.#lackingFromMs !== undefined && asOfMs - this.#lackingFromMs < lateTuned.rememberedMs
    );
  }

  /** Whether the table is to be asked now. */
  isDue(nowMs: number, { behind, kafkaOutage }: Completeness): boolean {
    if (behind.length > 0 || kafkaOutage !== undefined || this.#judged.size === 0) return false;
    return nowMs >= this.#nextLookMs;
  }

  /**
   * The windows that are to be judged again now; undefined for none.
   *
   * @param requests what the remembered windows have by now, by start.
   * @param snapshotsMs times that snapshots are of: windows before the first are left as they are.
   */
  again(
    nowMs: number,
    requests: ReadonlyMap<number, number>,
    snapshotsMs: readonly number[],
  ): Again | undefined {
    this.#nextLookMs = nowMs + lateTuned.lookEveryMs;
    const grown = this.#grown(requests);
    const sum = grown.reduce((all, each) => all + each.requests, 0);
    const [first] = grown;
    if (first === undefined || sum < lateTuned.leastRequests) {
      this.#lackingFromMs = undefined;
      return undefined;
    }
    this.#lackingFromMs = Math.min(first.startMs, this.#lackingFromMs ?? first.startMs);
    if (nowMs < this.#nextAgainMs) return undefined;
    this.#lackingFromMs = undefined;
    // Whatever becomes of them, they are not asked for by the same requests again.
    for (const { startMs } of grown) this.#judged.set(startMs, requests.get(startMs) ?? 0);
    const oldestMs = Math.min(Number.POSITIVE_INFINITY, ...snapshotsMs);
    const reached = grown.filter(({ startMs }) => startMs >= oldestMs);
    return {
      fromMs: reached[0]?.startMs ?? Number.POSITIVE_INFINITY,
      windows: reached.length,
      requests: reached.reduce((all, each) => all + each.requests, 0),
      left: grown.length - reached.length,
    };
  }

  /** Windows have been judged again, which took so long. */
  finished(nowMs: number, tookMs: number): void {
    this.#nextAgainMs = nowMs + Math.max(lateTuned.restMs, lateTuned.restTimes * tookMs);
  }

  /** Windows that have received more than they may, the oldest first. */
  #grown(requests: ReadonlyMap<number, number>): Grown[] {
    const grown: Grown[] = [];
    for (const [startMs, judged] of this.#judged) {
      const late = (requests.get(startMs) ?? 0) - judged;
      if (late > lateTuned.share * judged) grown.push({ startMs, requests: late });
    }
    return grown.sort((a, b) => a.startMs - b.startMs);
  }
}

/** Of all series, each by the stage that stands for its whole requests. */
function requestsOf(windows: readonly SeriesWindow[]): number {
  return windows.reduce((sum, window) => sum + (wholeRequest(window)?.requests ?? 0), 0);
}
