import type { TDigest } from '../../sketch/t-digest.ts';
import type { DetectOptions } from '../options/detect-options.ts';

/** Threshold of a baseline's tail, and the least effects that open and keep an anomaly. */
export interface TailThreshold {
  /** The baseline's quantile. */
  readonly baselineMs: number;
  /** Part of the baseline's requests above it: 1 - q, except for ties. */
  readonly baselineShare: number;
  /** Value that the quantile must reach to open an anomaly. */
  readonly effectMs: number;
  /** Value above which the quantile keeps it open. */
  readonly halfEffectMs: number;
}

/** Lower bound of `baselineShare` as a part of 1 - q, where ties leave no request above the quantile. */
const minShareOfTail = 0.25;

type EffectOptions = Pick<DetectOptions, 'min_effect_ratio' | 'min_effect_ms'>;

/** Least effects of a stage. A change that is small beside the total is not pageable. */
export function effectOptions(
  q: number,
  { min_effect_ratio, min_effect_ms, min_effect_of_total }: DetectOptions,
  total: TDigest | undefined,
): EffectOptions {
  const least = total === undefined ? 0 : min_effect_of_total * total.quantile(q);
  return { min_effect_ratio, min_effect_ms: Math.max(min_effect_ms, least) };
}

/**
 * Thresholds at a quantile, which has reached `effectMs` exactly when 1 - q of the requests lie above that.
 */
export function tailThreshold(baseline: TDigest, q: number, options: EffectOptions): TailThreshold {
  const baselineMs = baseline.quantile(q);
  const bounds = effectBounds(baselineMs, options);
  const share = 1 - baseline.cdf(baselineMs);
  const baselineShare = Math.min(Math.max(share, minShareOfTail * (1 - q)), 0.999);
  return { baselineMs, baselineShare, ...bounds };
}

/** Least effects by both the ratio and the milliseconds; half of each keeps an anomaly open. */
export function effectBounds(
  baselineMs: number,
  { min_effect_ratio: ratio, min_effect_ms: ms }: EffectOptions,
): { readonly effectMs: number; readonly halfEffectMs: number } {
  return {
    effectMs: Math.max(baselineMs * ratio, baselineMs + ms),
    halfEffectMs: Math.max(baselineMs * (1 + (ratio - 1) / 2), baselineMs + ms / 2),
  };
}
