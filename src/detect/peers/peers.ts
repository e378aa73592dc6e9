import { type Dimension, overflowValue } from '../../base/dimensions.ts';
import { BorrowedBaseline } from '../../baseline/borrowed-baseline.ts';
import { seriesKey, seriesOf } from '../../series/series-key.ts';
import type { Series } from '../../series/series-window.ts';
import { wholeRequest } from '../../series/whole-request.ts';
import { type DetectOptions, longestRun } from '../options/detect-options.ts';
import type { SeriesDetector } from '../tail/series-detector.ts';

/** Series that lend their past to one, at most: those with most requests. */
const mostLenders = 8;

/**
 * Dimensions whose new value serves the same requests as another one did, or does: nearest first. A new value
 * of `request_type` or `tenant` brings other requests, which nothing says the time of.
 */
const nearness = [
  ['version', 'host'],
  ['version', 'host', 'region'],
] as const satisfies readonly (readonly Dimension[])[];
type Nearness = 0 | 1;

/** What the series of a group are lent. */
interface Loan {
  /** To begin with: of those that had a request of late, if there are any. */
  readonly baseline: BorrowedBaseline | undefined;
  /** Of those that had a request of late and have not borrowed themselves. */
  readonly renewal: BorrowedBaseline | undefined;
  /** The lender with most requests. */
  readonly first: SeriesDetector | undefined;
  /** What one of the group that is new itself was lent. */
  readonly passedOn: BorrowedBaseline | undefined;
}

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
  /** What series of a group are lent, as of one window: a deploy of a thousand hosts asks once. */
  readonly #loans = new Map<string, Loan>();
  #loansMs = Number.NaN;

  constructor(options: DetectOptions) {
    this.#options = options;
  }

  add(detector: SeriesDetector): void {
    if (hasOverflow(detector.series)) return;
    this.#groups.forEach((groups, near) => {
      const key = groupKey(detector.series, near as Nearness);
      const group = groups.get(key);
      if (group === undefined) groups.set(key, new Set([detector]));
      else group.add(detector);
    });
  }

  delete(detector: SeriesDetector): void {
    this.#groups.forEach((groups, near) => {
      const key = groupKey(detector.series, near as Nearness);
      const group = groups.get(key);
      group?.delete(detector);
      if (group?.size === 0) groups.delete(key);
    });
  }

  /** What a new series begins with; undefined where there is nobody to lend it anything. */
  baselineFor(series: Series, nowMs: number): BorrowedBaseline | undefined {
    const [near, far] = [this.#loanTo(series, 0, nowMs), this.#loanTo(series, 1, nowMs)];
    return near.baseline ?? near.passedOn ?? far.baseline;
  }

  /**
   * What a series that has borrowed is lent by now, by those that are as near as the ones that have lent it that;
   * undefined where they have had no request of late. What they have lent stays then.
   */
  renewedFor(
    series: Series,
    borrowed: BorrowedBaseline,
    nowMs: number,
  ): BorrowedBaseline | undefined {
    const isNear = borrowed.lenders.some((lender) => arePeers(lender, series));
    return this.#loanTo(series, isNear ? 0 : 1, nowMs).renewal;
  }

  /** Of those that would lend it something the one with most requests. */
  largestLender(series: Series, nowMs: number): SeriesDetector | undefined {
    return this.#loanTo(series, 0, nowMs).first ?? this.#loanTo(series, 1, nowMs).first;
  }

  #loanTo(series: Series, near: Nearness, nowMs: number): Loan {
    if (nowMs !== this.#loansMs) this.#loans.clear();
    this.#loansMs = nowMs;
    const key = `${near} ${groupKey(series, near)}`;
    let loan = this.#loans.get(key);
    if (loan === undefined) {
      const peers = this.#peersOf(series, near);
      const lenders = peers.filter(({ lends }) => lends !== undefined);
      const live = lenders.filter(({ lastSeenMs }) => lastSeenMs >= this.#sinceMs(nowMs));
      const first = live.length > 0 ? live : lenders;
      // One that has borrowed itself is no judge of itself.
      const settled = live.filter(({ borrowed }) => borrowed === undefined);
      loan = {
        baseline: this.#merged(first),
        renewal: this.#merged(settled),
        first: first[0],
        passedOn: peers.find(({ borrowed }) => borrowed !== undefined)?.borrowed,
      };
      this.#loans.set(key, loan);
    }
    return loan;
  }

  /** The past of the first of them, merged. */
  #merged(lenders: readonly SeriesDetector[]): BorrowedBaseline | undefined {
    const past = lenders
      .slice(0, mostLenders)
      .flatMap(({ series, lends }) => (lends === undefined ? [] : [{ series, baseline: lends }]));
    return BorrowedBaseline.of(past, this.#options.min_baseline_windows);
  }

  /** Whoever had a request since then is live. */
  #sinceMs(nowMs: number): number {
    return nowMs - longestRun * this.#options.window;
  }

  /** Those with most requests in their last windows first. */
  #peersOf(series: Series, near: Nearness): SeriesDetector[] {
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

function groupKey(series: Series, near: Nearness): string {
  const blank = nearness[near].map((dimension) => [dimension, '']);
  return seriesKey({ ...series, ...Object.fromEntries(blank) });
}

function hasOverflow(series: Series): boolean {
  return Object.values(series).includes(overflowValue);
}
