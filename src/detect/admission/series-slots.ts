import { seriesKey, seriesOfKey, unversionedKey } from '../../series/series-key.ts';
import type { Series, SeriesWindow } from '../../series/series-window.ts';
import { wholeRequest } from '../../series/whole-request.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import type { DetectOptions } from '../options/detect-options.ts';
import { Admission, largest, type Offer, ranked, type Turn } from './admission.ts';

/** Versions of one series that get a slot at once, whatever their traffic. */
const versionsAtOnce = 3;
/** Largest number of series that get a slot in one window: each blocks the event loop for some ms. */
const maxPerWindow = 200;
/** Largest number of refused keys that are kept: others are checked again in each window. */
const maxRefused = 100_000;

/** The evaluated series, each of which has a slot. */
export interface EvaluatedSeries {
  readonly size: number;
  readonly isFull: boolean;
  readonly keys: Iterable<string>;
  /** Keys in an order that does not depend on the process. */
  readonly sortedKeys: readonly string[];
  /** undefined for a series that is not evaluated. */
  get(key: string): unknown;
  /** Begins to evaluate a series. */
  of(series: Series, key: string): unknown;
}

/** Callbacks to the owner of all detectors. */
export interface SlotOwner {
  /** Reports whether an anomaly of a series is open, so that it keeps its slot. */
  isOpen(key: string): boolean;
  /** Forgets all state of a series. */
  evict(key: string): void;
}

/**
 * Slots of the evaluated series: at most `detect.max_series`, those with the most requests. While there is a
 * slot for each, a series gets one with its first window. Otherwise slots are reassigned at the start of a
 * block of two minutes, by the traffic before it. Only the next version of an evaluated series gets one at
 * once: a free one, or that of the series with the least traffic.
 */
export class SeriesSlots {
  readonly #series: EvaluatedSeries;
  readonly #limit: number;
  readonly #owner: SlotOwner;
  readonly #admission: Admission;
  /** Reassignment at the start of a block, if it was needed before. */
  #planned: { readonly block: number; readonly turn: Turn } | undefined;
  #block = Number.NaN;
  #notEvaluated = 0;
  /** Keys without a slot that get none before the next turn. */
  readonly #refused = new Set<string>();
  /** Number of evaluated versions by unversioned key, as of `#countedKeys`. */
  readonly #versions = new Map<string, number>();
  #countedKeys: readonly string[] = [];

  constructor(series: EvaluatedSeries, options: DetectOptions, owner: SlotOwner) {
    this.#series = series;
    this.#limit = options.max_series;
    this.#owner = owner;
    // Fewer requests open no anomaly: they do not outweigh the loss of learnt state.
    this.#admission = new Admission(options.min_requests);
  }

  /** True while some series have no slot, and for some minutes after. */
  get isCrowded(): boolean {
    return this.#admission.isCrowded;
  }

  /** Series of the last window that were not evaluated. */
  get notEvaluated(): number {
    return this.#notEvaluated;
  }

  /** Starts a block: reassigns slots by the traffic before it. */
  turn(block: number): void {
    if (this.isCrowded) {
      const turn = this.#planFor(block);
      this.#admission.apply(turn, this.#limit);
      for (const key of turn.out) this.#owner.evict(key);
      for (const key of turn.in) this.#series.of(seriesOfKey(key), key);
    }
    this.#refused.clear();
    this.#planned = undefined;
    this.#block = block;
  }

  forget(key: string): void {
    this.#admission.forget(key);
  }

  /** Reports whether a series without a slot may get one with this window. */
  wouldAdmit(series: Series, key: string): boolean {
    return !this.isCrowded || this.#isNextVersion(series, key);
  }

  /** Assigns slots to new series, then returns the windows of series with one, by key. */
  admit(windows: readonly SeriesWindow[], keys: readonly string[]): Map<string, SeriesWindow> {
    const isShort = this.#admit(windows, keys);
    const present = new Map<string, SeriesWindow>();
    const refused: Offer[] = [];
    windows.forEach((window, i) => {
      const key = keys[i] as string;
      if (this.#series.get(key) !== undefined) present.set(key, window);
      else refused.push({ key, amount: requestsOf(window) });
    });
    this.#notEvaluated = refused.length;
    if (isShort) this.#admission.countRefused(refused, this.#limit);
    if (this.isCrowded) {
      for (const [key, window] of present) {
        this.#admission.countHolder({ key, amount: requestsOf(window) });
      }
    }
    return present;
  }

  /** Predicts whether a series of a next window is evaluated: otherwise it needs only whole requests. */
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

  /** Assigns slots to new series of a window; true if some get none. */
  #admit(windows: readonly SeriesWindow[], keys: readonly string[]): boolean {
    const newcomers: (Offer & { readonly series: Series })[] = [];
    windows.forEach((window, i) => {
      const key = keys[i] as string;
      if (this.#series.get(key) !== undefined || !this.wouldAdmit(window.series, key)) return;
      newcomers.push({ key, series: window.series, amount: requestsOf(window) });
    });
    if (this.isCrowded) {
      for (const { key, series } of ranked(newcomers).slice(0, maxPerWindow)) {
        this.#takeOver(series, key);
      }
      return true;
    }
    const free = Math.max(0, this.#limit - this.#series.size);
    const chosen = largest(newcomers, Math.min(free, maxPerWindow));
    for (const { key, series } of chosen) this.#series.of(series, key);
    return newcomers.length > free;
  }

  /** Gives the next version of an evaluated series a free slot, or that of the series with least traffic. */
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
    const evaluated = this.#evaluatedVersions(unversionedKey(series));
    const isNext = evaluated > 0 && evaluated < versionsAtOnce;
    if (!isNext && this.#refused.size < maxRefused) this.#refused.add(key);
    return isNext;
  }

  #evaluatedVersions(shared: string): number {
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

  #planFor(block: number): Turn {
    if (this.#planned?.block !== block) {
      const isOpen = (key: string) => this.#owner.isOpen(key);
      const turn = this.#admission.plan(this.#series.keys, this.#limit, isOpen, maxPerWindow);
      this.#planned = { block, turn };
    }
    return this.#planned.turn;
  }
}

function requestsOf(window: SeriesWindow): number {
  return wholeRequest(window)?.requests ?? 0;
}
