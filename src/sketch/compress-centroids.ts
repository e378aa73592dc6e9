import { invariant } from '../base/invariant.ts';

/** Tail mass below which ranks are no longer resolved finer: accuracy is promised to p99.9. */
const tailFloor = 4e-4;
/** What is left of the resolution below the median, which no latency question asks about. */
const lowerShare = 0.35;
/** The quantile from which on the resolution is full; a margin below p50. */
const fullFromQ = 0.45;
/** Durations are told apart down to a microsecond: relative gaps below it mean nothing. */
const floorMs = 1e-3;
/** Relative gap that counts as a jump: neighbouring 1/64-octave buckets are never this far apart. */
const jumpRatio = 1.033;
/** A centroid beside a jump gets a sharp edge when it is heavier than this part of the tail. */
const edgeShare = 0.05;

let capacity = 1024;
let left = new Float64Array(capacity);
let right = new Float64Array(capacity);
let above = new Float64Array(capacity);
let jumps = new Uint8Array(capacity);
let outMeans = new Float64Array(128);
let outWeights = new Float64Array(128);

/**
 * Turns `n` centroids (ascending means, positive weights) into at most `maxCentroids`, in place,
 * and returns how many there are. The sum of the weights stays exact while they are integers
 * below 2^53, the weighted mean to rounding. Both arrays need room for `maxCentroids`.
 *
 * A centroid's extent is measured in two things at once: its part of the tail above it, ln(1-q)
 * as in the k3 scale of Dunning and Ertl ("Computing extremely accurate quantiles using
 * t-digests", section 2), but one-sided, since latencies are asked for from p50 to p99.9; and its
 * spread in ln(ms), so that a value which covers many octaves is not described by few centroids.
 * The smallest extent that needs no more than `maxCentroids` is found by bisection.
 *
 * Beside a jump (bimodal latencies, values in whole milliseconds) one unit of weight is split
 * off as a centroid of its own. Readers, ClickHouse's too, take singletons as exact points, so
 * quantiles do not ramp over the jump but step where the distribution steps.
 *
 * Cost: two logarithms a centroid, then some ten passes of additions. Allocates nothing once the
 * scratch, shared and grown to the largest `n` seen, is there.
 */
export function compressCentroids(
  means: Float64Array,
  weights: Float64Array,
  n: number,
  maxCentroids: number,
): number {
  invariant(maxCentroids >= 1, `maxCentroids must be at least 1: it is ${maxCentroids}`);
  if (n <= 1) return n;
  reserve(n, maxCentroids);
  const extent = measure(means, weights, n);
  // The exact minimum and maximum stay what they are, where there is room for such a luxury.
  if (maxCentroids >= 8) {
    if (weights[0] === 1) left[0] = Number.NEGATIVE_INFINITY;
    if (weights[n - 1] === 1) right[n - 1] = Number.POSITIVE_INFINITY;
  }
  let step = 0;
  if (countPieces(weights, n, 0, maxCentroids) > maxCentroids) {
    let tooSmall = 0;
    step = extent;
    // A first guess from above: greedy filling wastes at most half of each extent.
    const guess = (2 * extent) / maxCentroids;
    if (guess < extent && countPieces(weights, n, guess, maxCentroids) <= maxCentroids) {
      step = guess;
    }
    for (let round = 0; round < 10; round++) {
      const middle = (tooSmall + step) / 2;
      if (countPieces(weights, n, middle, maxCentroids) <= maxCentroids) step = middle;
      else tooSmall = middle;
    }
  }
  return write(means, weights, n, step);
}

function reserve(n: number, maxCentroids: number): void {
  if (n > capacity) {
    capacity = Math.max(n, capacity * 2);
    left = new Float64Array(capacity);
    right = new Float64Array(capacity);
    above = new Float64Array(capacity);
    jumps = new Uint8Array(capacity);
  }
  if (maxCentroids > outMeans.length) {
    outMeans = new Float64Array(maxCentroids);
    outWeights = new Float64Array(maxCentroids);
  }
}

/** Fills the scratch: positions of each centroid's two ends, weight above, jumps. */
function measure(means: Float64Array, weights: Float64Array, n: number): number {
  let total = 0;
  for (let i = 0; i < n; i++) total += weights[i] as number;
  const floor = tailFloor * total;
  const fullBelow = (1 - fullFromQ) * total;
  let tail = total;
  let position = 0;
  let logTail = Math.log(tail + floor);
  let mean = Math.max(means[0] as number, floorMs);
  for (let i = 0; i < n; i++) {
    const nextTail = tail - (weights[i] as number);
    const nextLog = Math.log(Math.max(nextTail, 0) + floor);
    const share = tail > fullBelow ? lowerShare : 1;
    left[i] = position;
    position += share * (logTail - nextLog);
    right[i] = position;
    above[i] = nextTail;
    tail = nextTail;
    logTail = nextLog;
    if (i + 1 === n) break;
    const nextMean = Math.max(means[i + 1] as number, floorMs);
    jumps[i] = nextMean > mean * jumpRatio ? 1 : 0;
    // The value's spread counts less the less tail is left to be spread.
    position += (share * Math.log(nextMean / mean) * tail) / (tail + floor);
    mean = nextMean;
  }
  jumps[n - 1] = 0;
  return position;
}

/** Whether a centroid of this weight would blur the jump beside it, `tail` being above the jump. */
function needsEdge(weight: number, tail: number): boolean {
  return weight >= 4 && weight > edgeShare * tail;
}

/** How many centroids come out if none may extend over more than `step`; stops above `limit`. */
function countPieces(weights: Float64Array, n: number, step: number, limit: number): number {
  let pieces = 0;
  for (let first = 0; first < n && pieces <= limit; ) {
    const last = lastWithin(first, n, step);
    let weight = 0;
    for (let i = first; i <= last; i++) weight += weights[i] as number;
    pieces++;
    if (first > 0 && jumps[first - 1] === 1 && needsEdge(weight, above[first - 1] as number)) {
      pieces++;
    }
    if (jumps[last] === 1 && needsEdge(weight, above[last] as number)) pieces++;
    first = last + 1;
  }
  return pieces;
}

/** The last centroid that still fits with `first` into one of extent `step`. */
function lastWithin(first: number, n: number, step: number): number {
  const end = (left[first] as number) + step;
  let last = first;
  while (last + 1 < n && (right[last + 1] as number) <= end) last++;
  return last;
}

function write(means: Float64Array, weights: Float64Array, n: number, step: number): number {
  let pieces = 0;
  for (let first = 0; first < n; ) {
    const last = lastWithin(first, n, step);
    let weight = 0;
    let sum = 0;
    for (let i = first; i <= last; i++) {
      weight += weights[i] as number;
      sum += (means[i] as number) * (weights[i] as number);
    }
    const low = means[first] as number;
    const high = means[last] as number;
    const whole = weight;
    const edgeBelow =
      first > 0 && jumps[first - 1] === 1 && needsEdge(whole, above[first - 1] as number);
    const edgeAbove = jumps[last] === 1 && needsEdge(whole, above[last] as number);
    if (edgeBelow) {
      outMeans[pieces] = low;
      outWeights[pieces++] = 1;
      weight -= 1;
      sum -= low;
    }
    if (edgeAbove) {
      weight -= 1;
      sum -= high;
    }
    // Rounding must not carry the mean beyond what it is the mean of.
    outMeans[pieces] = Math.min(Math.max(sum / weight, low), high);
    outWeights[pieces++] = weight;
    if (edgeAbove) {
      outMeans[pieces] = high;
      outWeights[pieces++] = 1;
    }
    first = last + 1;
  }
  for (let i = 0; i < pieces; i++) {
    means[i] = outMeans[i] as number;
    weights[i] = outWeights[i] as number;
  }
  return pieces;
}
