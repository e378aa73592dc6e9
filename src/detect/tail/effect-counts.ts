import type { StageSummary } from '../../series/series-window.ts';
import type { TDigest } from '../../sketch/t-digest.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import { type DetectOptions, quarantineWindows } from '../options/detect-options.ts';
import type { SlowPath } from './evidence/evidence-weights.ts';
import { TailCounts, type TailEffect, type TailSums } from './tail-counts.ts';
import { type TailThreshold, tailThreshold } from './tail-threshold.ts';

/** Windows, at most, over which quantiles of an event are measured. */
export const shownWindows = quarantineWindows;

/** Quantile within the fast path: it moves once 15 % of fast requests are slow. Evidence needs as many. */
const quantileOfFast = 0.85;
/** Quantiles are rounded down to multiples of 1 / 20. */
const steps = 20;
/** Threshold of the fast path while requests take one path. */
const noThreshold: TailThreshold = {
  baselineMs: Number.POSITIVE_INFINITY,
  baselineShare: 1,
  effectMs: Number.POSITIVE_INFINITY,
  halfEffectMs: Number.POSITIVE_INFINITY,
};

/** A quantile, its baseline, and its index in the counts. */
interface Counted {
  readonly counts: TailCounts;
  readonly quantile: number;
  readonly q: number;
  readonly baselineMs: number;
}

/**
 * Effects at the configured quantiles (`detect.quantiles`). Where requests take two paths, as with a cache,
 * also at one of the fast path: when that is lost no tail quantile moves, as all are on the slow path already.
 */
export class EffectCounts {
  readonly #options: DetectOptions;
  readonly #tail: TailCounts;
  #thresholds: readonly TailThreshold[] = [];
  /** The quantile of the fast path, once the baseline has had two paths; its q is NaN while it has one. */
  #path: Counted | undefined;

  /** @param at offset of the tail's counts in the arena: `TailCounts.doubles`, all 0. */
  constructor(options: DetectOptions, at: number) {
    this.#options = options;
    this.#tail = new TailCounts(options, at);
  }

  /** Compares later windows with this baseline. Returns true where each must be added to the path, too. */
  compareWith(
    baseline: TDigest,
    total: TDigest | undefined,
    slowPath: SlowPath | undefined,
  ): boolean {
    const thresholdAt = (q: number) => tailThreshold(baseline, total, q, this.#options);
    this.#thresholds = this.#options.quantiles.map(thresholdAt);
    this.#tail.compareWith(this.#thresholds);
    if (slowPath !== undefined) this.#path ??= newPath();
    if (this.#path === undefined) return false;
    const q = slowPath === undefined ? Number.NaN : slowPathQuantile(slowPath.share);
    const threshold =
      slowPath === undefined ? noThreshold : slowerThan(slowPath.fromMs, thresholdAt(q));
    this.#path.counts.compareWith([threshold]);
    this.#path = { ...this.#path, q, baselineMs: threshold.baselineMs };
    return true;
  }

  addToPath(startMs: number, summary: StageSummary): void {
    if (this.#path !== undefined) TailCounts.add(this.#path.counts.at, 1, startMs, summary);
  }

  /**
   * Finds the quantile whose effect covers most of the last windows, and among equals the largest effect;
   * without an effect the first quantile.
   *
   * @param isPathSignificant true where significantly more requests take the slow path.
   */
  shown(maxWindows: number, isPathSignificant: boolean) {
    const effect = this.#tail.effect(maxWindows, shownWindows);
    const path = isPathSignificant ? this.#path : undefined;
    const ofPath = path?.counts.effect(maxWindows, shownWindows);
    if (path !== undefined && ofPath !== undefined && isMore(ofPath, effect)) {
      return { ...path, effect: ofPath };
    }
    return { ...this.#ofTail(effect?.quantile ?? 0), effect };
  }

  /** True where a quantile has reached half of its effect over the last windows. */
  showsHalf(windows: number, isPathSignificant: boolean): boolean {
    if (this.#tail.showsHalf(windows)) return true;
    return isPathSignificant && this.#path?.counts.showsHalf(windows) === true;
  }

  /** Sums at a quantile over the last windows; undefined where the quantile is not counted. */
  over(q: number, windows: number): (TailSums & { readonly baselineMs: number }) | undefined {
    const quantile = this.#options.quantiles.indexOf(q);
    const path = this.#path?.q === q ? this.#path : undefined;
    // Before the first baseline there are no thresholds.
    if (this.#thresholds[quantile] === undefined && path === undefined) return undefined;
    const counted = path ?? this.#ofTail(quantile);
    return { ...counted.counts.sums(counted.quantile, windows), baselineMs: counted.baselineMs };
  }

  serialize(state: StateArchive): void {
    this.#tail.serialize(state);
    this.#path = state.optional(this.#path, (path = newPath()) => {
      path.counts.serialize(state);
      return path;
    });
  }

  #ofTail(quantile: number): Counted {
    const { baselineMs } = this.#thresholds[quantile] as TailThreshold;
    const q = this.#options.quantiles[quantile] as number;
    return { counts: this.#tail, quantile, q, baselineMs };
  }
}

function newPath(): Counted {
  const counts = new TailCounts({ quantiles: [quantileOfFast] });
  return { counts, quantile: 0, q: Number.NaN, baselineMs: noThreshold.baselineMs };
}

/** Quantile of all requests that leaves the fast path once clearly fewer requests take it. */
export function slowPathQuantile(slowShare: number): number {
  return Math.floor(steps * quantileOfFast * (1 - slowShare)) / steps;
}

function slowerThan(ms: number, threshold: TailThreshold): TailThreshold {
  const { effectMs, halfEffectMs } = threshold;
  return {
    ...threshold,
    effectMs: Math.max(effectMs, ms),
    halfEffectMs: Math.max(halfEffectMs, ms),
  };
}

/** True where an effect covers more windows than another one, or as many with a larger effect. */
function isMore(one: TailEffect, other: TailEffect | undefined): boolean {
  if (other === undefined || one.windows > other.windows) return true;
  return one.windows === other.windows && one.times > other.times;
}
