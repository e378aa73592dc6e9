import type { TDigest } from '../../sketch/t-digest.ts';
import type { DetectOptions } from '../options/detect-options.ts';

/** Where a baseline's tail begins, and how far it must move to matter. */
export interface TailThreshold {
  /** The baseline's quantile. */
  readonly baselineMs: number;
  /** Part of requests usually above it: 1 - q, but for ties. */
  readonly baselineShare: number;
  /** The quantile must reach this for an anomaly to open. */
  readonly effectMs: number;
  /** And stay above this for it to go on. */
  readonly halfEffectMs: number;
}

/** What of 1 - q is taken as usual at least, where ties leave nothing above the quantile. */
const minShareOfTail = 0.25;

export type EffectOptions = Pick<DetectOptions, 'min_effect_ratio' | 'min_effect_ms'>;

/** The same, of a stage: what hardly anybody waited for is not worth a page, however much it grew. */
export function effectOptions(
  q: number,
  { min_effect_ratio, min_effect_ms, min_effect_of_total }: DetectOptions,
  total: TDigest | undefined,
): EffectOptions {
  const least = total === undefined ? 0 : min_effect_of_total * total.quantile(q);
  return { min_effect_ratio, min_effect_ms: Math.max(min_effect_ms, least) };
}

/** A quantile has reached `effectMs` exactly when 1 - q of the requests lie above it. */
export function tailThreshold(baseline: TDigest, q: number, options: EffectOptions): TailThreshold {
  const baselineMs = baseline.quantile(q);
  const bounds = effectBounds(baselineMs, options);
  const share = 1 - baseline.cdf(baselineMs);
  const baselineShare = Math.min(Math.max(share, minShareOfTail * (1 - q)), 0.999);
  return { baselineMs, baselineShare, ...bounds };
}

/** Both the ratio and the milliseconds must be reached; going on needs half of each. */
export function effectBounds(
  baselineMs: number,
  { min_effect_ratio: ratio, min_effect_ms: ms }: EffectOptions,
): { readonly effectMs: number; readonly halfEffectMs: number } {
  return {
    effectMs: Math.max(baselineMs * ratio, baselineMs + ms),
    halfEffectMs: Math.max(baselineMs * (1 + (ratio - 1) / 2), baselineMs + ms / 2),
  };
}
