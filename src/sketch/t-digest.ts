import { invariant } from '../base/invariant.ts';
import { compressCentroids } from './compress-centroids.ts';

const defaultMaxCentroids = 100;

/**
 * A distribution as weighted centroids, read-only: what is left of many durations after the write
 * side, or ClickHouse, has summed them up. Quantiles are linear between the middles of
 * neighbouring centroids; a centroid of weight 1 is one duration and taken as the exact point it is, which is
 * also how ClickHouse's quantilesTDigest reads a state.
 *
 * Memory: 24 bytes a centroid. `quantile` and `cdf` cost a binary search and allocate nothing.
 */
export class TDigest {
  /** Ascending, in the unit of the values (milliseconds for durations). */
  readonly means: Float64Array;
  /** Positive; how many values each centroid stands for. */
  readonly weights: Float64Array;
  /** Weight up to and including each centroid. */
  readonly #upTo: Float64Array;
  readonly #count: number;

  private constructor(means: Float64Array, weights: Float64Array) {
    const n = means.length;
    const upTo = new Float64Array(n);
    let count = 0;
    for (let i = 0; i < n; i++) {
      const weight = weights[i] as number;
      // The texts are made only where they are needed: a reader makes thousands of digests a second.
      if (!(weight > 0 && weight < Infinity))
        invariant(false, `centroid ${i} has the weight ${weight}`);
      const ascends = i === 0 ? !Number.isNaN(means[0]) : means[i]! >= means[i - 1]!;
      if (!ascends) {
        invariant(false, `centroid means must ascend: ${means[i - 1]}, ${means[i]} at ${i}`);
      }
      count += weight;
      upTo[i] = count;
    }
    this.means = means;
    this.weights = weights;
    this.#upTo = upTo;
    this.#count = count;
  }

  /** The first `n` of the given centroids, copied. Means ascend, weights are positive. */
  static fromCentroids(
    means: ArrayLike<number>,
    weights: ArrayLike<number>,
    n: number = means.length,
  ): TDigest {
    invariant(n <= means.length && n <= weights.length, `${n} centroids from a shorter array`);
    const ownMeans = new Float64Array(n);
    const ownWeights = new Float64Array(n);
    for (let i = 0; i < n; i++) {
      ownMeans[i] = means[i] as number;
      ownWeights[i] = weights[i] as number;
    }
    return new TDigest(ownMeans, ownWeights);
  }

  /** A digest of raw values, sorted and compressed at once. For tests and small baselines. */
  static fromValues(values: Iterable<number>, maxCentroids = defaultMaxCentroids): TDigest {
    const means = Float64Array.from(values).sort();
    return compressed(means, new Float64Array(means.length).fill(1), maxCentroids);
  }

  /**
   * One digest of everything in `digests`, of at most `maxCentroids` centroids. The count is the
   * exact sum of theirs. Cost: n log k for n centroids in k digests; allocates four arrays of n.
   */
  static merge(digests: readonly TDigest[], maxCentroids = defaultMaxCentroids): TDigest {
    let n = 0;
    for (const digest of digests) n += digest.size;
    let means = new Float64Array(n);
    let weights = new Float64Array(n);
    let ends: number[] = [];
    let at = 0;
    for (const digest of digests) {
      if (digest.size === 0) continue;
      means.set(digest.means, at);
      weights.set(digest.weights, at);
      at += digest.size;
      ends.push(at);
    }
    let toMeans = new Float64Array(ends.length > 1 ? n : 0);
    let toWeights = new Float64Array(ends.length > 1 ? n : 0);
    // Each round merges neighbouring sorted runs by twos, from one pair of arrays to the other.
    while (ends.length > 1) {
      ends = mergeRuns(means, weights, ends, toMeans, toWeights);
      [means, toMeans] = [toMeans, means];
      [weights, toWeights] = [toWeights, weights];
    }
    return compressed(means, weights, maxCentroids);
  }

  /** How many centroids. */
  get size(): number {
    return this.means.length;
  }

  /** Total weight: how many values went in. */
  get count(): number {
    return this.#count;
  }

  /** The value below which the fraction `q` of the weight lies; `q` is clamped to [0, 1]. NaN when empty. */
  quantile(q: number): number {
    const { means, weights } = this;
    const upTo = this.#upTo;
    const n = means.length;
    if (n === 0 || Number.isNaN(q)) return Number.NaN;
    const rank = Math.min(Math.max(q, 0), 1) * this.#count;
    const i = Math.min(firstAtLeast(upTo, rank), n - 1);
    const weight = weights[i] as number;
    const mean = means[i] as number;
    if (weight <= 1) return mean;
    const middle = (upTo[i] as number) - weight / 2;
    if (rank <= middle) {
      if (i === 0) return mean;
      const from = this.#rightKnot(i - 1);
      const low = means[i - 1] as number;
      return rank <= from ? low : low + ((mean - low) * (rank - from)) / (middle - from);
    }
    if (i === n - 1) return mean;
    const to = this.#leftKnot(i + 1);
    const high = means[i + 1] as number;
    return rank >= to ? high : high - ((high - mean) * (to - rank)) / (to - middle);
  }

  /**
   * The fraction of the weight at or below `x`: 0 below the first centroid, 1 from the last one
   * on, and between them the inverse of `quantile`. NaN when empty.
   */
  cdf(x: number): number {
    const { means } = this;
    const n = means.length;
    if (n === 0 || Number.isNaN(x)) return Number.NaN;
    const i = lastAtMost(means, x);
    if (i < 0) return 0;
    if (i === n - 1) return 1;
    const from = this.#rightKnot(i);
    const to = this.#leftKnot(i + 1);
    const low = means[i] as number;
    const high = means[i + 1] as number;
    return (from + ((to - from) * (x - low)) / (high - low)) / this.#count;
  }

  /** Rank up to which centroid `i` alone tells the value. */
  #rightKnot(i: number): number {
    const weight = this.weights[i] as number;
    return (this.#upTo[i] as number) - (weight <= 1 ? 0 : weight / 2);
  }

  /** Rank from which on centroid `i` alone tells the value. */
  #leftKnot(i: number): number {
    const weight = this.weights[i] as number;
    return (this.#upTo[i] as number) - (weight <= 1 ? weight : weight / 2);
  }
}

/** Compresses in place, with room for `maxCentroids` even when fewer came in. */
function compressed(means: Float64Array, weights: Float64Array, maxCentroids: number): TDigest {
  const n = means.length;
  let [roomyMeans, roomyWeights] = [means, weights];
  if (n < maxCentroids) {
    roomyMeans = new Float64Array(maxCentroids);
    roomyWeights = new Float64Array(maxCentroids);
    roomyMeans.set(means);
    roomyWeights.set(weights);
  }
  const size = compressCentroids(roomyMeans, roomyWeights, n, maxCentroids, false);
  return TDigest.fromCentroids(roomyMeans, roomyWeights, size);
}

function mergeRuns(
  means: Float64Array,
  weights: Float64Array,
  ends: readonly number[],
  toMeans: Float64Array,
  toWeights: Float64Array,
): number[] {
  const merged: number[] = [];
  let start = 0;
  for (let run = 0; run < ends.length; run += 2) {
    const middle = ends[run] as number;
    const end = ends[run + 1] ?? middle;
    let a = start;
    let b = middle;
    for (let to = start; to < end; to++) {
      const takeA = b >= end || (a < middle && (means[a] as number) <= (means[b] as number));
      const from = takeA ? a++ : b++;
      toMeans[to] = means[from] as number;
      toWeights[to] = weights[from] as number;
    }
    merged.push(end);
    start = end;
  }
  return merged;
}

/** Index of the first element that is at least `x`; the length if there is none. */
function firstAtLeast(sorted: Float64Array, x: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as number) < x) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Index of the last element that is at most `x`; -1 if there is none. */
function lastAtMost(sorted: Float64Array, x: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as number) <= x) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
