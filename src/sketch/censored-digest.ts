import { TDigest } from './t-digest.ts';

/** 1 − 0.9 is a little less than 0.1: the tenth of ten requests is the p90 all the same. */
const ROUNDING = 1 + 1e-9;

/** A quantile of durations some of which are only known to be longer than a value. */
export interface BoundedQuantile {
  /** Milliseconds; NaN without any request. */
  readonly ms: number;
  /** The quantile is at least `ms`: how much longer is not known. */
  readonly isAtLeast: boolean;
}

/**
 * Quantiles where some durations are censored: their requests were given up and would have lasted longer. By
 * the estimator of Kaplan and Meier (1958, "Nonparametric estimation from incomplete observations"): a
 * request that was given up counts among those still running until then, and not after. At equal times those
 * that finished come first.
 *
 *     S(t) = product over finished durations up to t of (1 − finished / still running)
 *
 * Between two censored values S falls as the number of running requests does. So a quantile is one of the
 * finished durations, at another level: no product over them is needed.
 *
 * Where S stays above 1 − q up to the last finished request, the quantile lies beyond it. Then the value is a
 * lower bound: the quantile if each request that was given up had ended there, or the longest finished one.
 *
 * A quantile costs c for c centroids of the censored ones, and log n for n of the others.
 */
export class CensoredDigest {
  readonly #finished: TDigest;
  readonly #censored: TDigest;
  readonly #longestMs: number;

  /**
   * @param ended durations of the requests that ended.
   * @param censored durations of the censored ones.
   * @param mixed those of the censored ones that are among `ended`: rows from before migration 0026 have them there. They
   * are subtracted, with an error where a centroid has both kinds.
   */
  constructor(ended: TDigest, censored: TDigest, mixed?: TDigest) {
    this.#finished = mixed === undefined || mixed.size === 0 ? ended : without(ended, mixed);
    this.#censored = censored;
    const { size, means } = this.#finished;
    this.#longestMs = size === 0 ? 0 : (means[size - 1] as number);
  }

  quantile(q: number): BoundedQuantile {
    const finished = this.#finished;
    const { means, weights, size } = this.#censored;
    const beyond = (1 - Math.min(Math.max(q, 0), 1)) * ROUNDING;
    let waiting = this.#censored.count;
    let running = finished.count + waiting;
    if (running === 0) return { ms: Number.NaN, isAtLeast: false };
    let survival = 1;
    for (let i = 0; i < size; i++) {
      const above =
        finished.count * (1 - (finished.size === 0 ? 1 : finished.cdf(means[i] as number)));
      // Finished requests above the quantile, if it lies before this value.
      const wanted = (beyond / survival) * running - waiting;
      if (finished.size > 0 && wanted >= above) return this.#finishedAbove(wanted);
      if (above === 0) return { ms: this.#boundMs(beyond), isAtLeast: true };
      survival *= (above + waiting) / running;
      waiting -= weights[i] as number;
      running = above + waiting;
    }
    return this.#finishedAbove((beyond / survival) * running);
  }

  #finishedAbove(requests: number): BoundedQuantile {
    const ms = this.#finished.quantile(1 - requests / this.#finished.count);
    return { ms, isAtLeast: false };
  }

  /** The value that no more than a share of all requests outlasted, if no finished request did. */
  #boundMs(share: number): number {
    const { means, weights, size } = this.#censored;
    const wanted = share * (this.#finished.count + this.#censored.count);
    let reached = 0;
    for (let i = size - 1; i >= 0; i--) {
      reached += weights[i] as number;
      if (reached > wanted) return Math.max(means[i] as number, this.#longestMs);
    }
    return this.#longestMs;
  }
}

/**
 * Takes the values of a part out of a digest that has them: each out of the nearest centroids, from the largest
 * down. What remains of a centroid keeps the mean of its other values. The counts are exact.
 */
function without(all: TDigest, part: TDigest): TDigest {
  const means = Float64Array.from(all.means);
  const weights = Float64Array.from(all.weights);
  for (let i = part.size - 1; i >= 0; i--) {
    const ms = part.means[i] as number;
    let rest = part.weights[i] as number;
    let above = firstAbove(means, ms);
    let below = above - 1;
    while (rest > 0 && (below >= 0 || above < means.length)) {
      const isAbove =
        below < 0 ||
        (above < means.length && (means[above] as number) - ms <= ms - (means[below] as number));
      const at = isAbove ? above++ : below--;
      rest -= takeFrom(means, weights, at, ms, rest);
    }
  }
  const kept = [...weights.keys()].filter((i) => (weights[i] as number) > 0);
  return TDigest.fromCentroids(
    kept.map((i) => means[i] as number),
    kept.map((i) => weights[i] as number),
  );
}

/** Takes up to `most` values of `ms` out of a centroid; returns how many. */
function takeFrom(
  means: Float64Array,
  weights: Float64Array,
  at: number,
  ms: number,
  most: number,
): number {
  const weight = weights[at] as number;
  const taken = Math.min(weight, most);
  const left = weight - taken;
  weights[at] = left;
  if (left === 0) return taken;
  const mean = ((means[at] as number) * weight - ms * taken) / left;
  // Means are rounded, and stay in order.
  const least = at === 0 ? 0 : (means[at - 1] as number);
  const largest = at === means.length - 1 ? (means[at] as number) : (means[at + 1] as number);
  means[at] = Math.min(Math.max(mean, least), largest);
  return taken;
}

/** Index of the first mean above a value, or the length. */
function firstAbove(means: Float64Array, ms: number): number {
  let low = 0;
  let high = means.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((means[middle] as number) <= ms) low = middle + 1;
    else high = middle;
  }
  return low;
}
