/**
 * Largest weight of a centroid, as a part of the values above it. Half a centroid is the most that a rank can
 * be off, so it stays below the bound of 5 % of the tail.
 */
const tailShare = 1 / 11;
/** Below p40 they may weigh twice that: no quantile is stored there, and merging leaves p50 as it is. */
const coarseFrom = 0.6;
const coarseShare = 2 * tailShare;

let outMeans = new Float64Array(0);
let outWeights = new Float64Array(0);

/**
 * Joins few values by their rank alone, in place. A centroid weighs at most an eleventh of the values above
 * it: the first 22 from the top are single values, the next eleven centroids weigh 2, then 4, and so on.
 * Powers of two in descending order compress to half the bytes of the weights that `compressCentroids` finds.
 *
 * Takes `n` centroids of ascending means and whole weights, which may be cut as in `compressCentroids`.
 * Returns the number of centroids. Returns 0 and changes nothing where more than `most` are needed: 57 are
 * enough for 249 values. The sum of the weights is unchanged, the weighted mean to rounding. A single lowest
 * or highest value stays a centroid. Cost: a step for each centroid, in and out. Allocates only the shared
 * scratch.
 */
export function joinByRank(
  means: Float64Array,
  weights: Float64Array,
  n: number,
  most: number,
): number {
  let total = 0;
  for (let i = 0; i < n; i++) total += weights[i] as number;
  if (most > outMeans.length) {
    outMeans = new Float64Array(most);
    outWeights = new Float64Array(most);
  }
  let from = n - 1;
  let available = from < 0 ? 0 : (weights[from] as number);
  let step = 1;
  let joined = 0;
  for (let above = 0; above < total; joined++) {
    if (joined === most) return 0;
    const largest = above * (above < coarseFrom * total ? tailShare : coarseShare);
    while (2 * step <= largest) step *= 2;
    const rest = total - above;
    const weight = rest === 1 ? 1 : Math.min(step, rest - 1);
    const highest = means[from] as number;
    let missing = weight;
    let sum = 0;
    while (missing > available) {
      sum += (means[from] as number) * available;
      missing -= available;
      available = weights[--from] as number;
    }
    sum += (means[from] as number) * missing;
    available -= missing;
    // Rounding must not move a mean beyond its values.
    outMeans[joined] = Math.min(Math.max(sum / weight, means[from] as number), highest);
    outWeights[joined] = weight;
    above += weight;
    if (available === 0 && from > 0) available = weights[--from] as number;
  }
  for (let i = 0; i < joined; i++) {
    means[i] = outMeans[joined - 1 - i] as number;
    weights[i] = outWeights[joined - 1 - i] as number;
  }
  return joined;
}
