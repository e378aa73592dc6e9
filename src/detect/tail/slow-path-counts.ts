import type { StageSummary } from '../../series/series-window.ts';
import type { TDigest } from '../../sketch/t-digest.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import type { EvidenceWeights } from './evidence/evidence-weights.ts';
import { TailCounts } from './tail-counts.ts';
import { type EffectOptions, type TailThreshold, tailThreshold } from './tail-threshold.ts';

/**
 * The quantile lies so far up the fast path: it moves once 15 of a hundred fast requests, or a few more, are
 * slow. Of fewer the evidence does not grow.
 */
const partOfFast = 0.85;
/** Quantiles are whole multiples of this part, as people quote them. */
const steps = 20;
const nothing: TailThreshold = {
  baselineMs: Number.POSITIVE_INFINITY,
  baselineShare: 1,
  effectMs: Number.POSITIVE_INFINITY,
  halfEffectMs: Number.POSITIVE_INFINITY,
};

/**
 * Where requests take two paths, a cache say, no quantile of the tail moves when the fast one is lost: it is
 * on the slow one already. So one of the fast path is counted, too: it has moved once it is on the slow one.
 *
 * Memory and cost: those of `TailCounts` with one quantile.
 */
export class SlowPathCounts {
  readonly counts = new TailCounts({ quantiles: [partOfFast] });
  /** The quantile; NaN while there are no two paths. */
  q = Number.NaN;
  threshold = nothing;

  /** Counts are of this baseline from now on. */
  compareWith(
    baseline: TDigest,
    path: EvidenceWeights['slowPath'],
    optionsOf: (q: number) => EffectOptions,
  ): void {
    this.q = Number.NaN;
    this.threshold = nothing;
    if (path !== undefined) {
      this.q = slowPathQuantile(path.share);
      const { effectMs, halfEffectMs, ...threshold } = tailThreshold(
        baseline,
        this.q,
        optionsOf(this.q),
      );
      this.threshold = {
        ...threshold,
        effectMs: Math.max(effectMs, path.fromMs),
        halfEffectMs: Math.max(halfEffectMs, path.fromMs),
      };
    }
    this.counts.compareWith([this.threshold]);
  }

  add(startMs: number, summary: StageSummary): void {
    TailCounts.add(this.counts.at, 1, startMs, summary);
  }

  serialize(state: StateArchive): void {
    this.counts.serialize(state);
  }
}

/** A quantile of the fast path that is slow once clearly fewer requests take it. */
export function slowPathQuantile(slowShare: number): number {
  return Math.floor(steps * partOfFast * (1 - slowShare)) / steps;
}
