import type { StageSummary } from '../../series/series-window.ts';
import type { TDigest } from '../../sketch/t-digest.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import { type DetectOptions, quarantineWindows } from '../options/detect-options.ts';
import type { EvidenceWeights } from './evidence/evidence-weights.ts';
import { SlowPathCounts } from './slow-path-counts.ts';
import { TailCounts, type TailEffect, type TailSums } from './tail-counts.ts';
import { effectOptions, type TailThreshold, tailThreshold } from './tail-threshold.ts';

/** Windows, at most, over which quantiles of an event are measured. */
export const shownWindows = quarantineWindows;

/** A quantile, its baseline, and its index in the counts. */
interface Counted {
  readonly counts: TailCounts;
  readonly quantile: number;
  readonly q: number;
  readonly baselineMs: number;
}

/** The quantile with the effect; without one, the first quantile. */
export interface Shown extends Counted {
  readonly effect: TailEffect | undefined;
}

/**
 * Effects at the configured quantiles (`detect.quantiles`), and at one of the fast path where requests take
 * two.
 */
export class EffectCounts {
  readonly #options: DetectOptions;
  readonly #tail: TailCounts;
  #thresholds: readonly TailThreshold[] = [];
  /** Present once the baseline has had two paths. */
  #path: SlowPathCounts | undefined;

  /** @param at offset of the tail's counts in the arena: `TailCounts.doubles`, all 0. */
  constructor(options: DetectOptions, at: number) {
    this.#options = options;
    this.#tail = new TailCounts(options, at);
  }

  /** True where `addToPath` must be called for each window, too. */
  get hasPath(): boolean {
    return this.#path !== undefined;
  }

  /** Compares later windows with this baseline. */
  compareWith(
    baseline: TDigest,
    total: TDigest | undefined,
    slowPath: EvidenceWeights['slowPath'],
  ): void {
    const optionsOf = (q: number) => effectOptions(q, this.#options, total);
    this.#thresholds = this.#options.quantiles.map((q) => tailThreshold(baseline, q, optionsOf(q)));
    this.#tail.compareWith(this.#thresholds);
    if (slowPath !== undefined) this.#path ??= new SlowPathCounts();
    this.#path?.compareWith(baseline, slowPath, optionsOf);
  }

  addToPath(startMs: number, summary: StageSummary): void {
    this.#path?.add(startMs, summary);
  }

  /**
   * Finds the quantile whose effect covers most of the last windows, and among equals the largest effect.
   *
   * @param isPathSignificant true where significantly more requests take the slow path.
   */
  shown(maxWindows: number, isPathSignificant: boolean): Shown {
    const effect = this.#tail.effect(maxWindows, shownWindows);
    const path = isPathSignificant ? this.#path : undefined;
    const ofPath = path?.counts.effect(maxWindows, shownWindows);
    if (path !== undefined && ofPath !== undefined && isMore(ofPath, effect)) {
      return { ...countedOf(path), effect: ofPath };
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
    if (quantile < 0 && path === undefined) return undefined;
    const counted = path === undefined ? this.#ofTail(quantile) : countedOf(path);
    return { ...counted.counts.sums(counted.quantile, windows), baselineMs: counted.baselineMs };
  }

  serialize(state: StateArchive): void {
    this.#tail.serialize(state);
    this.#path = state.optional(this.#path, (path = new SlowPathCounts()) => {
      path.serialize(state);
      return path;
    });
  }

  #ofTail(quantile: number): Counted {
    const { baselineMs } = this.#thresholds[quantile] as TailThreshold;
    const q = this.#options.quantiles[quantile] as number;
    return { counts: this.#tail, quantile, q, baselineMs };
  }
}

function countedOf({ counts, q, threshold }: SlowPathCounts): Counted {
  return { counts, quantile: 0, q, baselineMs: threshold.baselineMs };
}

/** True where an effect covers more windows than another one, or as many with a larger effect. */
function isMore(one: TailEffect, other: TailEffect | undefined): boolean {
  if (other === undefined || one.windows > other.windows) return true;
  return one.windows === other.windows && one.times > other.times;
}
