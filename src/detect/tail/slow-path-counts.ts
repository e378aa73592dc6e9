import type { StageSummary } from '../../series/series-window.ts';
import type { TDigest } from '../../sketch/t-digest.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import type { EvidenceWeights } from './evidence/evidence-weights.ts';
import { TailCounts } from './tail-counts.ts';
import { type EffectOptions, type TailThreshold, tailThreshold } from './tail-threshold.ts';

/** Quantile within the fast path: it moves once 15 % of fast requests are slow. Evidence needs as many. */
const quantileOfFast = 0.85;
/** Quantiles are rounded down to multiples of 1 / 20. */
const steps = 20;
const noThreshold: TailThreshold = {
  baselineMs: Number.POSITIVE_INFINITY,
  baselineShare: 1,
  effectMs: Number.POSITIVE_INFINITY,
  halfEffectMs: Number.POSITIVE_INFINITY,
};

/**
 * Counts at a quantile of the fast path, where requests take two, as with a cache. When the fast path is
 * lost, no tail quantile moves: it is on the slow path already. A quantile of the fast path does.
 *
 * Memory and cost: those of `TailCounts` with one quantile.
 */
export class SlowPathCounts {
  readonly counts = new TailCounts({ quantiles: [quantileOfFast] });
  /** The quantile; NaN while requests take one path. */
  q = Number.NaN;
  threshold = noThreshold;

  /** Compares later windows with this baseline. */
  compareWith(
    baseline: TDigest,
    path: EvidenceWeights['slowPath'],
    optionsOf: (q: number) => EffectOptions,
  ): void {
    this.q = Number.NaN;
    this.threshold = noThreshold;
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

/** Quantile of all requests that leaves the fast path once clearly fewer requests take it. */
export function slowPathQuantile(slowShare: number): number {
  return Math.floor(steps * quantileOfFast * (1 - slowShare)) / steps;
}
