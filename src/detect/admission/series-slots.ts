import { seriesKey, seriesOfKey, unversionedKey } from '../../series/series-key.ts';
import type { Series, SeriesWindow } from '../../series/series-window.ts';
import { wholeRequest } from '../../series/whole-request.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import type { DetectOptions } from '../options/detect-options.ts';
import type { SeriesDetectors } from '../tail/series-detectors.ts';
import { Admission, largest, type Offer, ranked, type Turn } from './admission.ts';

/** So many versions of a model that differ in nothing else get a place when they come, whatever their traffic. */
const versionsAtOnce = 3;
/** So many series get a place in one window: each takes some milliseconds, and the event loop waits. */
const mostAWindow = 200;
/** Keys that are remembered as refused: others are looked at again in each window. */
const mostRefused = 100_000;

/** What only the owner of all detectors can do. */
export interface SlotOwner {
  /** Whether something of a series is open, so that it keeps its place. */
  isOpen(key: string): boolean;
  /** Forgets all of a series. */
  evict(key: string): void;
}

/** A series of a window that has no place. */
interface Newcomer extends Offer {
  readonly series: Series;
}

/**
 * Which series are judged: at most `detect.max_series`, those with the most requests. While there is a place for
 * all, a series gets one with its first window. Else places change hands when a block of two minutes begins, by
 * what came before it; only a next version of a judged series gets one at once: a free one, or that of the series
 * with the least.
 */
export class SeriesSlots {
  readonly #series: SeriesDetectors;
  readonly #limit: number;
  readonly #owner: SlotOwner;
  readonly #admission: Admission;
  /** What changes hands when a block begins, where somebody asked before. */
  #planned:
    | { readonly block: number; readonly turn: Turn; readonly in: ReadonlySet<string> }
    | undefined;
  #block = Number.NaN;
  #unjudged = 0;
  /** Keys that have no place and get none before the next turn. */
  readonly #refused = new Set<string>();
  /** Versions that are judged, by what they share; as of some keys. */
  readonly #versions = new Map<string, number>();
  #countedKeys: readonly string[] = [];

  constructor(series: SeriesDetectors, options: DetectOptions, owner: SlotOwner) {
    this.#series = series;
    this.#limit = options.max_series;
    this.#owner = owner;
    // Fewer requests open no anomaly: such a difference is not worth what was learnt.
    this.#admission = new Admission(options.min_requests);
  }

  /** Whether some series have no place, or had none minutes ago. */
  get isCrowded(): boolean {
    return this.#admission.isCrowded;
  }

  /** Series of the last window that were not judged. */
  get unjudged(): number {
    return this.#unjudged;
  }

  /** A block begins: places change hands by what came before it. */
  turn(block: number): void {
    if (this.isCrowded) {
      const { turn } = this.#planFor(block);
      this.#admission.apply(turn, this.#limit);
      for (const key of turn.out) this.#owner.evict(key);
      for (const key of turn.in) this.#series.of(seriesOfKey(key), key);
    }
    this.#refused.clear();
    this.#planned = undefined;
    this.#block = block;
  }

  /** A series has been forgotten. */
  forget(key: string): void {
    this.#admission.forget(key);
  }

  /** Whether a series without a place would get one with this window. */
  wouldAdmit(series: Series, key: string): boolean {
    return !this.isCrowded || this.#isNextVersion(series, key);
  }

  /** The windows of series that have a place, by key; new ones get theirs first. */
  admit(windows: readonly SeriesWindow[], keys: readonly string[]): Map<string, SeriesWindow> {
    const isShort = this.#admit(windows, keys);
    const present = new Map<string, SeriesWindow>();
    const refused: Offer[] = [];
    windows.forEach((window, i) => {
      const key = keys[i] as string;
      if (this.#series.get(key) !== undefined) present.set(key, window);
      else refused.push({ key, amount: requestsOf(window) });
    });
    this.#unjudged = refused.length;
    if (isShort) this.#admission.countRefused(refused, this.#limit);
    if (this.isCrowded) {
      for (const [key, window] of present) {
        this.#admission.countHolder({ key, amount: requestsOf(window) });
      }
    }
    return present;
  }

  /**
   * Whether a series of a window that comes next is judged, as far as can be told before: of one that is not, only
   * whole requests are needed.
   */
  isWanted(series: Series, block: number): boolean {
    if (!this.isCrowded) return true;
    const key = seriesKey(series);
    if (this.#series.get(key) !== undefined) return true;
    const isNext = block !== this.#block;
    return (isNext && this.#planFor(block).in.has(key)) || this.#isNextVersion(series, key);
  }

  serialize(state: StateArchive): void {
    this.#block = state.number(this.#block);
    this.#admission.serialize(state);
  }

  /** Gives places to new series of a window; whether there is none for some. */
  #admit(windows: readonly SeriesWindow[], keys: readonly string[]): boolean {
    const newcomers: Newcomer[] = [];
    windows.forEach((window, i) => {
      const key = keys[i] as string;
      if (this.#series.get(key) !== undefined || !this.wouldAdmit(window.series, key)) return;
      newcomers.push({ key, series: window.series, amount: requestsOf(window) });
    });
    if (this.isCrowded) {
      for (const { key, series } of ranked(newcomers).slice(0, mostAWindow)) {
        this.#takeOver(series, key);
      }
      return true;
    }
    const free = Math.max(0, this.#limit - this.#series.size);
    const chosen = largest(newcomers, Math.min(free, mostAWindow));
    for (const { key, series } of chosen) this.#series.of(series, key);
    return newcomers.length > free;
  }

  /** Gives the next version of a judged series a free place, or that of the series with the least. */
  #takeOver(series: Series, key: string): void {
    if (!this.#isNextVersion(series, key)) return;
    const shared = unversionedKey(series);
    const { sortedKeys } = this.#series;
    const own = new Set(sortedKeys.filter((one) => unversionedKey(seriesOfKey(one)) === shared));
    if (this.#series.isFull) {
      const mayLose = (other: string) => !own.has(other) && !this.#owner.isOpen(other);
      const least = this.#admission.least(sortedKeys, mayLose);
      if (least === undefined) return;
      this.#owner.evict(least);
    }
    this.#series.of(series, key);
    this.#admission.inherit(key, [...own]);
    this.#refused.clear();
  }

  #isNextVersion(series: Series, key: string): boolean {
    if (this.#refused.has(key)) return false;
    const judged = this.#judgedVersions(unversionedKey(series));
    const isNext = judged > 0 && judged < versionsAtOnce;
    if (!isNext && this.#refused.size < mostRefused) this.#refused.add(key);
    return isNext;
  }

  #judgedVersions(shared: string): number {
    const keys = this.#series.sortedKeys;
    if (keys !== this.#countedKeys) {
      this.#countedKeys = keys;
      this.#versions.clear();
      for (const key of keys) {
        const one = unversionedKey(seriesOfKey(key));
        this.#versions.set(one, (this.#versions.get(one) ?? 0) + 1);
      }
    }
    return this.#versions.get(shared) ?? 0;
  }

  #planFor(block: number) {
    if (this.#planned?.block !== block) {
      const isOpen = (key: string) => this.#owner.isOpen(key);
      const turn = this.#admission.plan(this.#series.keys, this.#limit, isOpen, mostAWindow);
      this.#planned = { block, turn, in: new Set(turn.in) };
    }
    return this.#planned;
  }
}

function requestsOf(window: SeriesWindow): number {
  return wholeRequest(window)?.requests ?? 0;
}
