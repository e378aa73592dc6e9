import type { StageSummary } from '../../series/series-window.ts';
import type { TDigest } from '../../sketch/t-digest.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import { type DetectOptions, quarantineWindows } from '../options/detect-options.ts';
import type { EvidenceWeights } from './evidence/evidence-weights.ts';
import { SlowPathCounts } from './slow-path-counts.ts';
import { TailCounts, type TailEffect, type TailSums } from './tail-counts.ts';
import { effectOptions, type TailThreshold, tailThreshold } from './tail-threshold.ts';

/** Quantiles shown to people are those of at most so many windows. */
export const shownWindows = quarantineWindows;

/** A quantile, what it usually is, and the counts that have it, by its index there. */
interface Counted {
  readonly counts: TailCounts;
  readonly quantile: number;
  readonly q: number;
  readonly baselineMs: number;
}

/** Where an effect shows; without one, the first quantile. */
export interface Shown extends Counted {
  readonly effect: TailEffect | undefined;
}

/**
 * Whether one of the quantiles that people ask for (`detect.quantiles`), or one of the fast path where requests take
 * two, has moved by what matters to them.
 */
export class EffectCounts {
  readonly #options: DetectOptions;
  readonly #tail: TailCounts;
  #thresholds: readonly TailThreshold[] = [];
  /** Once the baseline has had two paths. */
  #path: SlowPathCounts | undefined;

  /** @param at where the counts of the tail are kept: `TailCounts.doubles`, all 0. */
  constructor(options: DetectOptions, at: number) {
    this.#options = options;
    this.#tail = new TailCounts(options, at);
  }

  /** Whether windows are to be given to `addToPath`, and not only to the counts of the tail. */
  get hasPath(): boolean {
    return this.#path !== undefined;
  }

  /** Counts are of this baseline from now on. */
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
   * Where the effect shows in most of the last windows, at most so many, and there by most.
   *
   * @param isPathOdd whether requests say that more of them take the slow path: a few do by chance.
   */
  shown(most: number, isPathOdd: boolean): Shown {
    const effect = this.#tail.effect(most, shownWindows);
    const path = isPathOdd ? this.#path : undefined;
    const ofPath = path?.counts.effect(most, shownWindows);
    if (path !== undefined && ofPath !== undefined && isMore(ofPath, effect)) {
      return { ...countedOf(path), effect: ofPath };
    }
    return { ...this.#ofTail(effect?.quantile ?? 0), effect };
  }

  /** Whether a quantile has reached half of its effect in the last windows. */
  showsHalf(windows: number, isPathOdd: boolean): boolean {
    if (this.#tail.showsHalf(windows)) return true;
    return isPathOdd && this.#path?.counts.showsHalf(windows) === true;
  }

  /** What was counted at a quantile in the last windows; undefined of one that is not. */
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

/** Whether an effect shows in more windows than another one, or in as many by more. */
function isMore(one: TailEffect, other: TailEffect | undefined): boolean {
  if (other === undefined || one.windows > other.windows) return true;
  return one.windows === other.windows && one.times > other.times;
}
