import { type Dimension, overflowValue } from '../base/dimensions.ts';
import { BorrowedBaseline } from '../baseline/borrowed-baseline.ts';
import { seriesKey } from '../baseline/series-key.ts';
import { seriesOf } from '../baseline/series-of.ts';
import type { Series } from '../baseline/series-window.ts';
import { wholeRequest } from '../baseline/whole-request.ts';
import type { DetectOptions } from './detect-options.ts';
import { longestRun } from './longest-run.ts';
import type { SeriesDetector } from './series-detector.ts';

/** Series that lend their past to one, at most: those with most requests. */
const mostLenders = 8;

/**
 * Dimensions whose new value serves the same requests as another one did, or does: nearest first. A new value
 * of `request_type` or `tenant` brings other requests, which nothing says the time of.
 */
const nearness: readonly (readonly Dimension[])[] = [
  ['version', 'host'],
  ['version', 'host', 'region'],
];

/**
 * Finds for a new series those that it replaces or runs beside: they differ from it only in a version or a
 * host, or else in the region, too. Their pasts, merged by traffic, are what it is compared with until it has
 * its own.
 *
 * Memory: a reference a series and nearness.
 */
export class Peers {
  readonly #options: DetectOptions;
  readonly #groups = nearness.map(() => new Map<string, Set<SeriesDetector>>());
  /** By group, as of one window: a deploy of a thousand hosts merges their past once. */
  readonly #merged = new Map<string, BorrowedBaseline | undefined>();
  #mergedMs = Number.NaN;

  constructor(options: DetectOptions) {
    this.#options = options;
  }

  add(detector: SeriesDetector): void {
    if (hasOverflow(detector.series)) return;
    this.#groups.forEach((groups, near) => {
      const key = groupKey(detector.series, near);
      const group = groups.get(key);
      if (group === undefined) groups.set(key, new Set([detector]));
      else group.add(detector);
    });
  }

  delete(detector: SeriesDetector): void {
    this.#groups.forEach((groups, near) => {
      const key = groupKey(detector.series, near);
      const group = groups.get(key);
      group?.delete(detector);
      if (group?.size === 0) groups.delete(key);
    });
  }

  /** What a new series begins with; undefined where there is nobody to lend it anything. */
  baselineFor(series: Series, nowMs: number): BorrowedBaseline | undefined {
    return this.renewedFor(series, nowMs) ?? this.#borrowedByPeers(series);
  }

  /** Of those that would lend it something the one with most requests. */
  likest(series: Series, nowMs: number): SeriesDetector | undefined {
    for (let near = 0; near < nearness.length; near++) {
      const [first] = this.#lendersOf(series, near, nowMs);
      if (first !== undefined) return first;
    }
    return undefined;
  }

  /** The same of lenders with a past of their own. */
  renewedFor(series: Series, nowMs: number): BorrowedBaseline | undefined {
    if (nowMs !== this.#mergedMs) this.#merged.clear();
    this.#mergedMs = nowMs;
    for (let near = 0; near < nearness.length; near++) {
      const key = `${near} ${groupKey(series, near)}`;
      if (!this.#merged.has(key)) {
        const lenders = this.#lendersOf(series, near, nowMs).flatMap(({ series: of, lends }) =>
          lends === undefined ? [] : [{ series: of, baseline: lends }],
        );
        this.#merged.set(key, BorrowedBaseline.of(lenders, this.#options.min_baseline_windows));
      }
      const merged = this.#merged.get(key);
      if (merged !== undefined) return merged;
    }
    return undefined;
  }

  /** Of a series that replaces one that is new itself: what that one was given. */
  #borrowedByPeers(series: Series): BorrowedBaseline | undefined {
    return this.#peersOf(series, 0).find(({ borrowed }) => borrowed !== undefined)?.borrowed;
  }

  /** Those that had a request of late, if there are any; those with most requests. */
  #lendersOf(series: Series, near: number, nowMs: number): SeriesDetector[] {
    const lenders = this.#peersOf(series, near).filter(({ lends }) => lends !== undefined);
    const sinceMs = nowMs - longestRun * this.#options.window;
    const live = lenders.filter(({ lastSeenMs }) => lastSeenMs >= sinceMs);
    return (live.length > 0 ? live : lenders).slice(0, mostLenders);
  }

  /** Those with most requests in their last windows first. */
  #peersOf(series: Series, near: number): SeriesDetector[] {
    const group = this.#groups[near]?.get(groupKey(series, near)) ?? [];
    const weighed = [...group].map((detector) => ({
      ...{ detector, key: seriesKey(detector.series) },
      requests: detector.latestWindows.reduce(
        (sum, window) => sum + (wholeRequest(window)?.requests ?? 0),
        0,
      ),
    }));
    weighed.sort((a, b) => b.requests - a.requests || (a.key < b.key ? -1 : 1));
    return weighed.map(({ detector }) => detector);
  }
}

/** Whether one of two series may replace the other, or run beside it, as a version or a host does. */
export function arePeers(one: Series, other: Series): boolean {
  return groupKey(seriesOf(one), 0) === groupKey(seriesOf(other), 0);
}

function groupKey(series: Series, near: number): string {
  const blank = (nearness[near] as readonly Dimension[]).map((dimension) => [dimension, '']);
  return seriesKey({ ...series, ...Object.fromEntries(blank) });
}

function hasOverflow(series: Series): boolean {
  return Object.values(series).includes(overflowValue);
}
