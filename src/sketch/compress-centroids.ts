import { invariant } from '../base/invariant.ts';

/** Share of the weight above which no quantile is stored: a margin beyond p99.9. */
const tailEnd = 8e-4;
/** Keeps the logarithm of the tail finite. */
const tailFloor = 5e-5;
/** Resolution beyond that, as a share. */
const sideShare = 0.3;
/** Weight of ln(ms) in an extent, against ln(tail). */
const spreadShare = 0.3;
/**
 * With few values above, a centroid of a given share of the tail has a larger error, as its values are not
 * evenly spread. The resolution rises up to threefold, doubling at this many values.
 */
const fewValues = 50;
const fewValuesGain = 2;
/** Durations are distinct down to a microsecond: relative gaps below it mean nothing. */
const floorMs = 1e-3;
/** Relative gap that counts as a jump: neighbouring 1/64-octave buckets are never this far apart. */
const jumpRatio = 1.033;
/** Share of the tail above which a centroid at a jump gets a sharp edge. */
const edgeShare = 0.05;
/** Weight of an edge, as a share. ClickHouse joins neighbours up to 0.04 N q(1-q); two edges exceed it. */
const edgeWeightShare = 0.02;
/** Factor between the weights of an edge's pieces, growing inwards. */
const edgeGrowth = 4;
/** Maximum pieces of an edge; fewer are tried when edges cost too much of the rest. */
const edgeLevels = [12, 2, 1] as const;
/** Share of the centroids that edges may cost before fewer pieces are tried. */
const edgesBudget = 0.3;
/** Fewer centroids than this allow no edges or exact extremes. */
const minRefinedCentroids = 8;
/** A group below this weight has no edges. */
const minEdgeGroupWeight = 4;

let capacity = 0;
/** Twice the middle of each centroid on the scale of extents, and the end of the last one. */
let doubled = new Float64Array(0);
let extent = 0;
/** Weight of each centroid and all above it, and a 0. */
let upwards = new Float64Array(0);
/** 1 for each centroid after a jump, and an entry for the top. */
let jumpBefore = new Uint8Array(0);
/** `mayCut` of `compressCentroids`. */
let canCut = false;
/** `phase` of `compressCentroids`. */
let shift = 1;
let outMeans = new Float64Array(128);
let outWeights = new Float64Array(128);
/** Weights of the pieces of one group, ascending in value. */
const plan = new Float64Array(2 * edgeLevels[0] + 1);

/**
 * Compresses `n` centroids (ascending means, positive weights) to at most `maxCentroids`, in place, and
 * returns their number. The sum of the weights stays exact for integers below 2^53, the weighted mean to
 * rounding. Both arrays need room for `maxCentroids`.
 *
 * The extent of a centroid has two terms. One is its share of the tail above it in ln(1-q), as latencies are
 * read at high quantiles. It is the k2 scale of Dunning and Ertl ("Computing extremely accurate quantiles
 * using t-digests", section 2), one-sided. The other is its spread in ln(ms), so that values over many
 * octaves keep enough centroids. Bisection finds the smallest extent that needs no more than `maxCentroids`.
 *
 * Jumps occur in bimodal latencies, in whole milliseconds, and at the end of the values. A centroid at a jump
 * is cut into pieces that grow lighter towards it, the last about 2 % of the tail. Quantiles then step where
 * the distribution does, here and in ClickHouse. Its merges join light neighbours once more, so the pieces
 * are not lighter.
 *
 * With `mayCut`, the values of a centroid are nearly equal, as in a bucket of the write side. It may be cut
 * into pieces of the same mean. Centroids of digests may be wide, so their edges are whole centroids.
 *
 * `phase`, in (0, 1], is the position of the first bound between groups within an extent, and so of all
 * bounds. With one phase, digests of one distribution would have the same bounds, and stairs there once
 * merged.
 *
 * From 8 centroids on, a single lowest or highest value stays a centroid. Cost: two logarithms a centroid,
 * and some ten passes of additions. Allocates only the shared scratch, which grows to the largest `n`.
 */
export function compressCentroids(
  means: Float64Array,
  weights: Float64Array,
  n: number,
  maxCentroids: number,
  mayCut: boolean,
  phase = 1,
): number {
  invariant(maxCentroids >= 1, `maxCentroids must be at least 1: it is ${maxCentroids}`);
  if (n === 0) return 0;
  reserve(n, maxCentroids);
  canCut = mayCut;
  shift = phase;
  const jumps = measure(means, weights, n);
  if (maxCentroids < minRefinedCentroids) {
    return write(means, weights, n, smallestStep(n, 0, maxCentroids), 0);
  }
  if (weights[0] === 1) doubled[0] = Number.NEGATIVE_INFINITY;
  if (weights[n - 1] === 1) doubled[n - 1] = Number.POSITIVE_INFINITY;
  for (const level of edgeLevels) {
    const step = smallestStep(n, level, maxCentroids);
    if (step < 0) continue;
    const affordable =
      jumps === 0 ||
      step === 0 ||
      countPieces(n, step, 0, maxCentroids) >= (1 - edgesBudget) * maxCentroids;
    if (affordable) return write(means, weights, n, step, level);
  }
  return write(means, weights, n, smallestStep(n, 0, maxCentroids), 0);
}

function reserve(n: number, maxCentroids: number): void {
  if (n > capacity) {
    capacity = Math.max(n, capacity * 2, 1024);
    doubled = new Float64Array(capacity);
    upwards = new Float64Array(capacity + 1);
    jumpBefore = new Uint8Array(capacity + 1);
  }
  if (maxCentroids > outMeans.length) {
    outMeans = new Float64Array(maxCentroids);
    outWeights = new Float64Array(maxCentroids);
  }
}

/** Fills the scratch; returns the number of jumps that need an edge. */
function measure(means: Float64Array, weights: Float64Array, n: number): number {
  const [middles, tails, flags] = [doubled, upwards, jumpBefore];
  let total = 0;
  tails[n] = 0;
  for (let i = n - 1; i >= 0; i--) {
    total += weights[i] as number;
    tails[i] = total;
  }
  const floor = tailFloor * total;
  const fullAbove = tailEnd * total;
  let position = 0;
  let mean = Math.max(means[0] as number, floorMs);
  let jumps = 0;
  for (let i = 0; i < n; i++) {
    const tail = tails[i] as number;
    const nextTail = tails[i + 1] as number;
    const share = tail < fullAbove ? sideShare : 1;
    const begin = position;
    const gain = 1 + (fewValuesGain * fewValues) / (tail + fewValues);
    position += share * gain * logRatio(nextTail + floor, tail + floor);
    middles[i] = begin + position;
    if (i + 1 === n) break;
    const nextMean = Math.max(means[i + 1] as number, floorMs);
    const jump = nextMean > mean * jumpRatio ? 1 : 0;
    flags[i + 1] = jump;
    if (jump === 1) {
      const heaviest = Math.max(weights[i] as number, weights[i + 1] as number);
      if (heaviest >= minEdgeGroupWeight && isHeavy(heaviest, nextTail)) jumps++;
    }
    position += share * spreadShare * logRatio(mean, nextMean);
    mean = nextMean;
  }
  extent = position;
  // Merged digests may have values far beyond the highest, and beyond the lowest where there is one value
  // only.
  flags[n] = 1;
  flags[0] = n === 1 ? 1 : 0;
  return jumps;
}

/** ln(high / low) to a thousandth for 0 < low <= high, by the series of atanh where that suffices. */
function logRatio(low: number, high: number): number {
  if (high > 1.25 * low) return Math.log(high / low);
  return (2 * (high - low)) / (high + low);
}

/** Smallest extent at which all pieces fit; 0 if nothing must be joined, -1 if one group has too many. */
function smallestStep(n: number, level: number, maxCentroids: number): number {
  // Without joining, edges only add centroids.
  if (n <= maxCentroids && countPieces(n, 0, level, maxCentroids) <= maxCentroids) return 0;
  // Groups fill most of their extent, so the result is close above extent / maxCentroids.
  let tooSmall = 0;
  let step = (1.1 * extent) / maxCentroids;
  while (step < extent && countPieces(n, step, level, maxCentroids) > maxCentroids) {
    tooSmall = step;
    step *= 1.25;
  }
  if (step >= extent) {
    step = extent;
    if (countPieces(n, step, level, maxCentroids) > maxCentroids) return -1;
  }
  while (step - tooSmall > 0.03 * step) {
    const middle = (tooSmall + step) / 2;
    if (countPieces(n, middle, level, maxCentroids) <= maxCentroids) step = middle;
    else tooSmall = middle;
  }
  return step;
}

/**
 * Number of centroids if each group extends over `step`; stops at `limit`. The innermost loop: the scratch is
 * in locals, and only groups at a jump are planned.
 */
function countPieces(n: number, step: number, level: number, limit: number): number {
  const [middles, jumps] = [doubled, jumpBefore];
  let pieces = 0;
  for (let first = 0; first < n && pieces <= limit; ) {
    const bound = boundAfter(first, step);
    let end = first + 1;
    while (end < n && (middles[end] as number) < bound) end++;
    const plain = level === 0 || (jumps[first] === 0 && jumps[end] === 0);
    pieces += plain ? 1 : planPieces(first, end, level);
    first = end;
  }
  return pieces;
}

/** End, exclusive, of the group that begins with `first`. */
function groupEnd(first: number, n: number, step: number): number {
  const bound = boundAfter(first, step);
  let end = first + 1;
  while (end < n && (doubled[end] as number) < bound) end++;
  return end;
}

/**
 * Twice the bound between groups that follows the middle of a centroid. The bounds lie on a grid. Without it,
 * groups would soon have the same bounds in every phase.
 */
function boundAfter(i: number, step: number): number {
  if (step === 0) return Number.NEGATIVE_INFINITY;
  const middle = (doubled[i] as number) / 2;
  return 2 * step * (Math.floor(middle / step + shift) + 1 - shift);
}

/** Fills `plan` with the weights of a group's pieces and returns their number. */
function planPieces(first: number, end: number, level: number): number {
  const weight = (upwards[first] as number) - (upwards[end] as number);
  plan[0] = weight;
  if (level === 0 || weight < minEdgeGroupWeight) return 1;
  const below = jumpBefore[first] === 1 && isHeavy(weight, upwards[first] as number);
  const above = jumpBefore[end] === 1 && isHeavy(weight, upwards[end] as number);
  const budget = below && above ? weight / 2 : weight;
  const lower = below ? planEdge(first, end, level, budget, 1, 0) : 0;
  const upper = above ? planEdge(end, first, level, budget, -1, lower + 1) : 0;
  let body = weight;
  for (let i = 0; i < lower; i++) body -= plan[i] as number;
  for (let i = lower + 1; i <= lower + upper; i++) body -= plan[i] as number;
  plan[lower] = body;
  // The upper edge was planned from the jump inwards.
  for (let i = lower + 1, j = lower + upper; i < j; i++, j--) {
    const piece = plan[i] as number;
    plan[i] = plan[j] as number;
    plan[j] = piece;
  }
  return lower + 1 + upper;
}

/**
 * Plans an edge from the jump before centroid `from` inwards, in direction `step` and short of `to`, at
 * `plan[at]` onwards. Returns the number of pieces. They have at most half of `room`.
 */
function planEdge(
  from: number,
  to: number,
  level: number,
  budget: number,
  step: number,
  offset: number,
): number {
  let wanted = edgeWeight(from);
  let rest = budget;
  let pieces = 0;
  let position = from;
  while (pieces < level) {
    let size = wanted;
    if (!canCut) {
      const start = upwards[position] as number;
      size = 0;
      while (size < wanted && position !== to) {
        position += step;
        size = Math.abs((upwards[position] as number) - start);
      }
    }
    if (size <= 0 || rest < 3 * size) break;
    plan[offset + pieces++] = size;
    rest -= size;
    wanted = size * edgeGrowth;
  }
  return pieces;
}

function isHeavy(weight: number, tail: number): boolean {
  return weight > edgeShare * tail;
}

/** Weight of the outermost piece of an edge. */
function edgeWeight(i: number): number {
  const total = upwards[0] as number;
  const tail = upwards[i] as number;
  return Math.floor(edgeWeightShare * tail * (1 - tail / total)) + 1;
}

/** Writes the pieces of all groups, filled from the group's centroids in ascending order. */
function write(
  means: Float64Array,
  weights: Float64Array,
  n: number,
  step: number,
  level: number,
): number {
  let written = 0;
  for (let first = 0; first < n; ) {
    const end = groupEnd(first, n, step);
    const pieces = planPieces(first, end, level);
    let from = first;
    let available = weights[first] as number;
    for (let piece = 0; piece < pieces; piece++) {
      const weight = plan[piece] as number;
      const lowest = means[from] as number;
      let missing = weight;
      let sum = 0;
      while (missing > available && from + 1 < end) {
        sum += (means[from] as number) * available;
        missing -= available;
        available = weights[++from] as number;
      }
      sum += (means[from] as number) * missing;
      available -= missing;
      // Rounding must not move a mean beyond its values.
      outMeans[written] = Math.min(Math.max(sum / weight, lowest), means[from] as number);
      outWeights[written++] = weight;
      if (available <= 0 && from + 1 < end) available = weights[++from] as number;
    }
    first = end;
  }
  for (let i = 0; i < written; i++) {
    means[i] = outMeans[i] as number;
    weights[i] = outWeights[i] as number;
  }
  return written;
}
