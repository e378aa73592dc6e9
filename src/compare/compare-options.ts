import type { Config } from '../config/schema.ts';
import { storedQuantiles } from '../sketch/stored-quantiles.ts';

/** The size of what counts as worse, and the certainty of a verdict. */
export interface CompareOptions {
  /** Ratio of durations, or of shares of failures, from which on a difference matters. */
  readonly minEffectRatio: number;
  /** Difference of durations below which a ratio does not matter, in milliseconds. */
  readonly minEffectMs: number;
  /** Difference of the shares of failed requests below which a ratio does not matter. */
  readonly minEffectShare: number;
  /** Largest probability that a verdict is ever wrong, of `fail` and of `pass` each. */
  readonly errorShare: number;
  /** Requests of each version in compared minutes below which there is no verdict. */
  readonly minRequests: number;
  /** Minutes that are compared as one: some times as many as the traffic remembers. */
  readonly blockMinutes: number;
}

/**
 * | number         | unit     | why                                              | held by
 * |----------------|----------|--------------------------------------------------|----------------------------
 * | minEffectRatio | ratio    | as `detect.min_effect_ratio`: what pages         | test/compare/version-test
 * | minEffectMs    | ms       | as `detect.min_effect_ms`                        | the same
 * | minEffectShare | share    | one request in 200: less is seen as noise        | the same
 * | errorShare     | share    | one release in 50, however often it is asked     | npm run eval -- verdict
 * | minRequests    | requests | five beyond p99                                  | test/compare/version-test
 * | blockMinutes   | minutes  | minutes that know nothing of each other          | npm run eval -- verdict
 * | mostComparedValues | values | ten times the evidence: some four minutes more | test/compare/verdict/by-value
 */
export const compareDefaults: CompareOptions = {
  minEffectRatio: 1.3,
  minEffectMs: 5,
  minEffectShare: 0.005,
  errorShare: 0.02,
  minRequests: 500,
  blockMinutes: 1,
};

/** Values of a dimension that are compared beside one another. */
export const mostComparedValues = 10;

/**
 * The options of one of several values. It has its part of the error share, whether the other values are there already
 * or come later: so it may be asked every minute for all of them, too.
 */
export function ofOneValue(options: Partial<CompareOptions>): Partial<CompareOptions> {
  const { errorShare = compareDefaults.errorShare } = options;
  return { ...options, errorShare: errorShare / mostComparedValues };
}

/** The margin that is configured: what pages is also what fails a release. */
export function configuredMargin(
  detect: Pick<Config['detect'], 'min_effect_ratio' | 'min_effect_ms'>,
): Pick<CompareOptions, 'minEffectRatio' | 'minEffectMs'> {
  return { minEffectRatio: detect.min_effect_ratio, minEffectMs: detect.min_effect_ms };
}

/**
 * Part of the margin up to which two versions count as equal, so that there is no evidence for `fail`: ten
 * percent slower at a margin of thirty. More would be slower to find what is worse; less would fail more of
 * what is within the margin. Held by `npm run eval -- verdict`, "a tenth slower" and "all × 1.5".
 */
export const equalPart = 1 / 3;

/** Quantiles that decide: the typical request and two depths of the tail. */
export const decidingQuantiles = [0.5, 0.95, 0.99] as const;

/**
 * Parts of the capital that is bet on "worse": one `endpoint` for each quantile of whole requests and for
 * failures, and `others` for all other stages and the objectives together. Held by
 * `npm run eval -- verdict-stages`.
 */
export const capital = { endpoint: 1, others: 4 } as const;

/** Quantile whose excess is blamed on stages. */
export const blamedQuantile = 0.99;

/** Quantiles that are shown: stored ones with enough requests beyond them in some minutes. */
export const shownQuantiles = storedQuantiles.filter((q) => q <= 0.99);

/** Quantiles of stages that are shown: intervals of all would cost most of the time. */
export const stageQuantiles = [0.5, 0.99] as const;

/**
 * Evidence is a mixture of bets on a shift of the log odds, of these sizes. Few and far apart: a shift
 * between two of them costs little. `deviation` is that of a version's log odds from minute to minute which
 * the bets expect. A wrong one costs minutes, never validity.
 */
export const bets = { shifts: [0.25, 0.7, 2], deviation: 0.4 } as const;

/** Requests of the baseline from which on its earlier minutes alone set the thresholds. */
export const thresholdRequests = 1_000;

/** Centroids of the merged digests. */
export const mergedCentroids = 200;
