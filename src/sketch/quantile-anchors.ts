import { highWord } from './high-word.ts';
import { storedQuantiles } from './stored-quantiles.ts';

/** Maximum number of centroids that anchors add: a part below and one above each. */
export const anchorCentroids = 2 * storedQuantiles.length;
/** Bits of a bucket: the exponent and the upper bits of the mantissa. */
const exponentBias = 1023;
const bucketBits = 6;
/** Rounding error of a quantile times a count: 0.95 * 20 is the 19th value, not the 20th. */
const rounding = 1e-9;

const ranks = new Float64Array(storedQuantiles.length);
const values = new Float64Array(storedQuantiles.length);
/** Sum of all values below each anchor. */
const sumsBelow = new Float64Array(storedQuantiles.length);
let count = 0;
let outMeans = new Float64Array(128);
let outWeights = new Float64Array(128);

/**
 * Finds the values at the stored quantiles by nearest rank: p50, p90, p95, p99 and p99.9. `means` and
 * `weights` are buckets of the write side in ascending order, 64 an octave, with integer weights. Values are
 * assumed to lie evenly around their bucket's mean. O(n); allocates nothing. `placeAnchors` reads the result,
 * which is shared state.
 */
export function findAnchors(means: Float64Array, weights: Float64Array, n: number): void {
  let total = 0;
  for (let i = 0; i < n; i++) total += weights[i] as number;
  count = 0;
  let rank = rankOf(0, total);
  let below = 0;
  let sum = 0;
  for (let i = 0; i < n && count < storedQuantiles.length; i++) {
    const mean = means[i] as number;
    const weight = weights[i] as number;
    while (count < storedQuantiles.length && rank < below + weight) {
      // Equal steps between the values of the bucket, with its mean in the middle.
      const within = rank - below;
      const stepMs = (2 * halfWidthOf(means, i, n)) / weight;
      const firstMs = mean - (stepMs * (weight - 1)) / 2;
      ranks[count] = rank;
      values[count] = firstMs + stepMs * within;
      sumsBelow[count] = sum + within * (firstMs + (stepMs * (within - 1)) / 2);
      count++;
      if (count < storedQuantiles.length) rank = rankOf(count, total);
    }
    below += weight;
    sum += mean * weight;
  }
}

/**
 * Splits the values that `findAnchors` found out of the same buckets' centroids, each into a separate one.
 * Returns the number of centroids, at most `anchorCentroids` more. A digest, ClickHouse's too, then returns
 * exactly these values. The sum of the weights is unchanged, the weighted mean to rounding. Both arrays need
 * room.
 */
export function placeAnchors(means: Float64Array, weights: Float64Array, n: number): number {
  if (n + anchorCentroids > outMeans.length) {
    outMeans = new Float64Array(n + anchorCentroids);
    outWeights = new Float64Array(n + anchorCentroids);
  }
  let written = 0;
  let below = 0;
  let sum = 0;
  let next = 0;
  for (let i = 0; i < n; i++) {
    const mean = means[i] as number;
    const end = below + (weights[i] as number);
    const endSum = sum + mean * (weights[i] as number);
    const high = i + 1 === n ? mean : (means[i + 1] as number);
    let low = i === 0 ? mean : (outMeans[written - 1] as number);
    let rest = mean;
    for (; next < count && (ranks[next] as number) < end; next++) {
      const rank = ranks[next] as number;
      const value = between(values[next] as number, low, high);
      const sumBelow = sumsBelow[next] as number;
      if (rank < below || end - below <= 1) continue;
      const left = rank === below ? low : (sumBelow - sum) / (rank - below);
      const right = rank + 1 === end ? high : (endSum - sumBelow - value) / (end - rank - 1);
      // A bucket that was cut at a jump, or that is wider than the rest, may differ from that assumption.
      if (!ascend(low, left, value) || !ascend(value, right, high)) continue;
      if (rank > below) {
        outMeans[written] = between(left, low, value);
        outWeights[written++] = rank - below;
      }
      outMeans[written] = value;
      outWeights[written++] = 1;
      low = value;
      rest = right;
      below = rank + 1;
      sum = sumBelow + value;
    }
    if (end > below) {
      outMeans[written] = between(rest, low, high);
      outWeights[written++] = end - below;
    }
    below = end;
    sum = endSum;
  }
  for (let i = 0; i < written; i++) {
    means[i] = outMeans[i] as number;
    weights[i] = outWeights[i] as number;
  }
  return written;
}

/** Nearest rank of a quantile, from 0. */
function rankOf(i: number, total: number): number {
  return Math.max(0, Math.ceil((storedQuantiles[i] as number) * total - rounding) - 1);
}

/** Distance of a bucket's values from its mean: to its nearer bound, at most to a neighbour. */
function halfWidthOf(means: Float64Array, i: number, n: number): number {
  const mean = means[i] as number;
  const lower = i === 0 ? mean : (means[i - 1] as number);
  const upper = i + 1 === n ? mean : (means[i + 1] as number);
  const widthMs = 2 ** ((highWord(mean) >>> 20) - exponentBias - bucketBits);
  const above = mean % widthMs;
  return Math.min(above, widthMs - above, mean - lower, upper - mean);
}

/** Returns true if the values ascend, up to the rounding of sums. */
function ascend(low: number, middle: number, high: number): boolean {
  const slack = 1e-10 * high;
  return low - slack <= middle && middle - slack <= high;
}

function between(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}
