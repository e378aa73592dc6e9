import { kindOfName } from '../../base/dimensions.ts';
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

/**
 * Options of a stage's tail. A milestone is what users wait for, however long the rest takes. Of a measure only the
 * ratio of an effect counts: milliseconds per token are not those of a request.
 */
export function effectOptionsOf(stage: string, options: DetectOptions): DetectOptions {
  const kind = kindOfName(stage);
  if (kind === 'part') return options;
  const { min_effect_ms } = options;
  return {
    ...options,
    min_effect_ms: kind === 'measure' ? 0 : min_effect_ms,
    min_effect_of_total: 0,
  };
}

/**
 * Thresholds at a quantile, which has reached `effectMs` exactly when 1 - q of the requests lie above.
 *
 * @param total baseline of whole requests: a change that is small beside it is not pageable.
 */
export function tailThreshold(
  baseline: TDigest,
  total: TDigest | undefined,
  q: number,
  options: EffectOptions & Pick<DetectOptions, 'min_effect_of_total'>,
): TailThreshold {
  const baselineMs = baseline.quantile(q);
  const { min_effect_ratio, min_effect_of_total } = options;
  const leastMs = total === undefined ? 0 : min_effect_of_total * total.quantile(q);
  const min_effect_ms = Math.max(options.min_effect_ms, leastMs);
  const share = 1 - baseline.cdf(baselineMs);
  const baselineShare = Math.min(Math.max(share, minShareOfTail * (1 - q)), 0.999);
  const bounds = effectBounds(baselineMs, { min_effect_ratio, min_effect_ms });
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
