import { type Dimension, overflowValue } from '../../base/dimensions.ts';
import { BorrowedBaseline } from '../../baseline/borrowed-baseline.ts';
import type { SeriesReference } from '../../baseline/series-reference.ts';
import { seriesKey, seriesOf } from '../../series/series-key.ts';
import type { Series, SeriesWindow } from '../../series/series-window.ts';
import { wholeRequest } from '../../series/whole-request.ts';
import { type DetectOptions, longestRun } from '../options/detect-options.ts';

/** Largest number of lenders for one series: those with most requests. */
const maxLenders = 8;

/**
 * Dimensions whose values serve the same requests, nearest first. A new `request_type` or `tenant` brings
 * other requests, whose durations are unknown.
 */
const nearness = [
  ['version', 'host'],
  ['version', 'host', 'region'],
] as const satisfies readonly (readonly Dimension[])[];
type Nearness = 0 | 1;
const all: readonly Nearness[] = [0, 1];

/** A series that may lend its baseline, or borrows one. */
export interface Peer {
  readonly series: Series;
  /** Its own baseline, where it lends it. */
  readonly lends: SeriesReference | undefined;
  readonly borrowed: BorrowedBaseline | undefined;
  readonly lastSeenMs: number;
  readonly latestWindows: readonly SeriesWindow[];
}

/** Baselines lent to the series of a group. */
interface Loan<P> {
  /** For a new series: from live lenders, if there are any. */
  readonly baseline: BorrowedBaseline | undefined;
  /** From live lenders that do not borrow themselves. */
  readonly renewal: BorrowedBaseline | undefined;
  /** The lender with most requests. */
  readonly largest: P | undefined;
  /** Baseline that another new series of the group borrows. */
  readonly passedOn: BorrowedBaseline | undefined;
}

/**
 * Finds the peers of a new series: those that differ only in version or host, or else also in region. Their
 * baselines, merged by traffic, are its baseline until it has its own.
 *
 * Memory: a reference per series and nearness.
 */
export class Peers<P extends Peer> {
  readonly #options: DetectOptions;
  readonly #groups = new Map<string, Set<P>>();
  /** Loans per group, as of one window: a deploy of a thousand hosts computes one. */
  readonly #loans = new Map<string, Loan<P>>();
  #loansMs = Number.NaN;

  constructor(options: DetectOptions) {
    this.#options = options;
  }

  add(detector: P): void {
    if (Object.values(detector.series).includes(overflowValue)) return;
    for (const near of all) {
      const key = groupKey(detector.series, near);
      const group = this.#groups.get(key);
      if (group === undefined) this.#groups.set(key, new Set([detector]));
      else group.add(detector);
    }
  }

  delete(detector: P): void {
    for (const near of all) {
      const key = groupKey(detector.series, near);
      const group = this.#groups.get(key);
      group?.delete(detector);
      if (group?.size === 0) this.#groups.delete(key);
    }
  }

  /** Baseline for a new series; undefined without a lender. */
  baselineFor(series: Series, nowMs: number): BorrowedBaseline | undefined {
    const [near, far] = [this.#loanTo(series, 0, nowMs), this.#loanTo(series, 1, nowMs)];
    return near.baseline ?? near.passedOn ?? far.baseline;
  }

  /**
   * Renewed baseline for a borrower, from lenders that are as near as its first ones. undefined if none is
   * live: then the old loan stays.
   */
  renewedFor(
    series: Series,
    borrowed: BorrowedBaseline,
    nowMs: number,
  ): BorrowedBaseline | undefined {
    const isNear = borrowed.lenders.some((lender) => arePeers(lender, series));
    return this.#loanTo(series, isNear ? 0 : 1, nowMs).renewal;
  }

  /** The lender with most requests. */
  largestLender(series: Series, nowMs: number): P | undefined {
    return this.#loanTo(series, 0, nowMs).largest ?? this.#loanTo(series, 1, nowMs).largest;
  }

  #loanTo(series: Series, near: Nearness, nowMs: number): Loan<P> {
    if (nowMs !== this.#loansMs) this.#loans.clear();
    this.#loansMs = nowMs;
    const key = groupKey(series, near);
    let loan = this.#loans.get(key);
    if (loan === undefined) {
      const peers = byRequests(this.#groups.get(key) ?? []);
      const lenders = peers.filter(({ lends }) => lends !== undefined);
      const liveSinceMs = nowMs - longestRun * this.#options.window;
      const live = lenders.filter(({ lastSeenMs }) => lastSeenMs >= liveSinceMs);
      const lending = live.length > 0 ? live : lenders;
      // A borrower must not confirm its own baseline.
      const owners = live.filter(({ borrowed }) => borrowed === undefined);
      loan = {
        baseline: this.#merged(lending),
        renewal: this.#merged(owners),
        largest: lending[0],
        passedOn: peers.find(({ borrowed }) => borrowed !== undefined)?.borrowed,
      };
      this.#loans.set(key, loan);
    }
    return loan;
  }

  /** Merged baselines of the first lenders. */
  #merged(lenders: readonly Peer[]): BorrowedBaseline | undefined {
    const lent = lenders
      .slice(0, maxLenders)
      .flatMap(({ series, lends }) => (lends === undefined ? [] : [{ series, baseline: lends }]));
    return BorrowedBaseline.of(lent, this.#options.min_baseline_windows);
  }
}

/** Reports whether two series differ only in version or host. */
export function arePeers(one: Series, other: Series): boolean {
  return groupKey(seriesOf(one), 0) === groupKey(seriesOf(other), 0);
}

function groupKey(series: Series, near: Nearness): string {
  const blank = nearness[near].map((dimension) => [dimension, '']);
  return `${near} ${seriesKey({ ...series, ...Object.fromEntries(blank) })}`;
}

/** Sorts peers: those with most requests in their last windows come first. */
function byRequests<P extends Peer>(peers: Iterable<P>): P[] {
  const weighted = Array.from(peers, (detector) => {
    const counts = detector.latestWindows.map((window) => wholeRequest(window)?.requests ?? 0);
    const requests = counts.reduce((sum, count) => sum + count, 0);
    return { detector, key: seriesKey(detector.series), requests };
  });
  weighted.sort((a, b) => b.requests - a.requests || (a.key < b.key ? -1 : 1));
  return weighted.map(({ detector }) => detector);
}
