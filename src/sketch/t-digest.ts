import { invariant } from '../base/invariant.ts';
import { compressCentroids } from './compress-centroids.ts';

const defaultMaxCentroids = 100;

/**
 * Distribution as weighted centroids, read-only, made by the write side or by ClickHouse. Quantiles are
 * linear between the middles of neighbouring centroids. A centroid of weight 1 is one exact duration, as in
 * ClickHouse's quantilesTDigest.
 *
 * Memory: 8 bytes a centroid where digests share an array (`PackedDigests`), 16 otherwise; 8 more once a
 * quantile was read. `quantile` and `cdf` cost a binary search, the first time a sum of all weights too.
 */
export class TDigest {
  /**
   * From `from` on: ascending means, in the unit of the values (milliseconds for durations), then as many
   * positive weights, the values of each centroid. Other digests may be around it. Read-only.
   */
  readonly centroids: Float32Array | Float64Array;
  readonly from: number;
  readonly size: number;
  /** Total weight: the number of values. */
  readonly count: number;
  #sums: Float64Array | undefined;

  /**
   * Reads centroids of an array from an element on: means, then weights.
   *
   * @param centroids array that is no longer written to.
   */
  constructor(centroids: Float32Array | Float64Array, from: number, size: number) {
    let count = 0;
    const end = from + size;
    for (let i = from; i < end; i++) {
      const weight = centroids[i + size] as number;
      // The messages are made only on failure: a reader makes thousands of digests a second.
      if (!(weight > 0 && weight < Infinity))
        invariant(false, `centroid ${i - from} has the weight ${weight}`);
      const mean = centroids[i] as number;
      const ascends = i === from ? !Number.isNaN(mean) : mean >= (centroids[i - 1] as number);
      if (!ascends)
        invariant(false, `centroid means must ascend: ${centroids[i - 1]}, ${mean} at ${i - from}`);
      count += weight;
    }
    this.centroids = centroids;
    this.from = from;
    this.size = size;
    this.count = count;
  }

  /** Copies the first `n` centroids. Means ascend, weights are positive. */
  static fromCentroids(
    means: ArrayLike<number>,
    weights: ArrayLike<number>,
    n: number = means.length,
  ): TDigest {
    invariant(n <= means.length && n <= weights.length, `${n} centroids from a shorter array`);
    const centroids = new Float64Array(2 * n);
    for (let i = 0; i < n; i++) {
      centroids[i] = means[i] as number;
      centroids[n + i] = weights[i] as number;
    }
    return new TDigest(centroids, 0, n);
  }

  /** Digest of raw values. For tests and small baselines. */
  static fromValues(values: Iterable<number>, maxCentroids = defaultMaxCentroids): TDigest {
    const means = Float64Array.from(values).sort();
    return compressed(means, new Float64Array(means.length).fill(1), maxCentroids);
  }

  /**
   * Merges digests into one of at most `maxCentroids` centroids. The count is the exact sum of theirs. Cost:
   * n log k for n centroids in k digests; allocates four arrays of n.
   */
  static merge(digests: readonly TDigest[], maxCentroids = defaultMaxCentroids): TDigest {
    let n = 0;
    for (const digest of digests) n += digest.size;
    let means = new Float64Array(n);
    let weights = new Float64Array(n);
    let ends: number[] = [];
    let offset = 0;
    for (const digest of digests) {
      if (digest.size === 0) continue;
      means.set(digest.means, offset);
      weights.set(digest.weights, offset);
      offset += digest.size;
      ends.push(offset);
    }
    let toMeans = new Float64Array(ends.length > 1 ? n : 0);
    let toWeights = new Float64Array(ends.length > 1 ? n : 0);
    // Each round merges neighbouring sorted runs by twos, from one pair of arrays into the other.
    while (ends.length > 1) {
      ends = mergeRuns(means, weights, ends, toMeans, toWeights);
      [means, toMeans] = [toMeans, means];
      [weights, toWeights] = [toWeights, weights];
    }
    return compressed(means, weights, maxCentroids);
  }

  /** Multiplies all values. Cost: a copy of the centroids. */
  scaled(factor: number): TDigest {
    return TDigest.fromCentroids(
      this.means.map((mean) => mean * factor),
      this.weights,
    );
  }

  /** View of the means, made on each call. */
  get means(): Float32Array | Float64Array {
    return this.centroids.subarray(this.from, this.from + this.size);
  }

  /** View of the weights, made on each call. */
  get weights(): Float32Array | Float64Array {
    const from = this.from + this.size;
    return this.centroids.subarray(from, from + this.size);
  }

  /** Value below which the fraction `q` of the weight lies; `q` is clamped to [0, 1]. NaN when empty. */
  quantile(q: number): number {
    const all = this.centroids;
    const n = this.size;
    if (n === 0 || Number.isNaN(q)) return Number.NaN;
    const rank = Math.min(Math.max(q, 0), 1) * this.count;
    const sums = this.#runningSums();
    const i = Math.min(firstAtLeast(sums, rank), n - 1);
    const offset = this.from + i;
    const weight = all[offset + n] as number;
    const mean = all[offset] as number;
    if (weight <= 1) return mean;
    const middle = (sums[i] as number) - weight / 2;
    if (rank <= middle) {
      if (i === 0) return mean;
      const from = this.#rightKnot(i - 1);
      const low = all[offset - 1] as number;
      return rank <= from ? low : low + ((mean - low) * (rank - from)) / (middle - from);
    }
    if (i === n - 1) return mean;
    const to = this.#leftKnot(i + 1);
    const high = all[offset + 1] as number;
    return rank >= to ? high : high - ((high - mean) * (to - rank)) / (to - middle);
  }

  /**
   * Fraction of the weight at or below `x`: 0 below the first centroid, 1 from the last one on, and the
   * inverse of `quantile` between. NaN when empty.
   */
  cdf(x: number): number {
    const all = this.centroids;
    const n = this.size;
    if (n === 0 || Number.isNaN(x)) return Number.NaN;
    const offset = lastAtMost(all, this.from, n, x);
    const i = offset - this.from;
    if (i < 0) return 0;
    if (i === n - 1) return 1;
    const from = this.#rightKnot(i);
    const to = this.#leftKnot(i + 1);
    const low = all[offset] as number;
    const high = all[offset + 1] as number;
    return (from + ((to - from) * (x - low)) / (high - low)) / this.count;
  }

  /** Rank up to which the quantile is the mean of centroid `i`. */
  #rightKnot(i: number): number {
    const weight = this.#weight(i);
    return (this.#runningSums()[i] as number) - (weight <= 1 ? 0 : weight / 2);
  }

  /** Rank from which on the quantile is the mean of centroid `i`. */
  #leftKnot(i: number): number {
    const weight = this.#weight(i);
    return (this.#runningSums()[i] as number) - (weight <= 1 ? weight : weight / 2);
  }

  #weight(i: number): number {
    return this.centroids[this.from + this.size + i] as number;
  }

  #runningSums(): Float64Array {
    if (this.#sums !== undefined) return this.#sums;
    const n = this.size;
    const sums = new Float64Array(n);
    let sum = 0;
    for (let i = 0; i < n; i++) {
      sum += this.#weight(i);
      sums[i] = sum;
    }
    this.#sums = sums;
    return sums;
  }
}

/** Compresses in place, in arrays of at least `maxCentroids`. */
function compressed(means: Float64Array, weights: Float64Array, maxCentroids: number): TDigest {
  const n = means.length;
  let [paddedMeans, paddedWeights] = [means, weights];
  if (n < maxCentroids) {
    paddedMeans = new Float64Array(maxCentroids);
    paddedWeights = new Float64Array(maxCentroids);
    paddedMeans.set(means);
    paddedWeights.set(weights);
  }
  const size = compressCentroids(paddedMeans, paddedWeights, n, maxCentroids, false);
  return TDigest.fromCentroids(paddedMeans, paddedWeights, size);
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

/** Index of the first element that is at least `x`, or the length. */
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

/** Index of the last of `n` elements from `from` on that is at most `x`, or `from - 1`. */
function lastAtMost(
  sorted: Float32Array | Float64Array,
  from: number,
  n: number,
  x: number,
): number {
  let low = from;
  let high = from + n;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as number) <= x) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
