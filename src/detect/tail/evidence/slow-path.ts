import { slowPathShare } from './fault-templates.ts';

/** Part of the variance that two paths must explain: halves of a lognormal explain 0.64. */
const leastExplained = 0.8;
/** Least requests of a path. */
const leastRequests = 20;
/**
 * Least distance of both paths' means, in eighths of an octave: eight times as slow. Sizes of requests differ
 * by less, and their mix drifts: without this limit nine of 17 series-weeks of such a mix had a false page.
 */
const leastBins = 24;
/** Variance of a uniform distribution over one bin. */
const varianceOfBin = 1 / 12;

/**
 * Splits durations in a fast and a slow path, as of cache hits and misses, where that explains most of the
 * variance of their logarithms (Otsu, "A threshold selection method from gray-level histograms", 1979).
 *
 * Cost: some nanoseconds a bin.
 *
 * @param upTo cumulative requests before each bin, and of all; bins are even in the logarithm.
 * @returns first bin of the slow path, half-way between both, and its part of requests; undefined without one.
 */
export function slowPathOf(upTo: Float64Array, bins: number) {
  const total = upTo[bins] as number;
  if (total < 2 * leastRequests) return undefined;
  let [sum, squares] = [0, 0];
  for (let bin = 0; bin < bins; bin++) {
    const requests = (upTo[bin + 1] as number) - (upTo[bin] as number);
    sum += requests * bin;
    squares += requests * bin * bin;
  }
  const mean = sum / total;
  const variance = squares / total - mean * mean + varianceOfBin;
  let [most, firstBin, distance, below] = [0, 0, 0, 0];
  for (let bin = 1; bin < bins; bin++) {
    const fast = upTo[bin] as number;
    below += (fast - (upTo[bin - 1] as number)) * (bin - 1);
    // The fast path must hold the requests that the fault moves from it.
    if (fast < slowPathShare * total || total - fast < leastRequests) continue;
    const part = fast / total;
    const between = (mean * part - below / total) ** 2 / (part * (1 - part));
    if (between <= most) continue;
    most = between;
    // Half-way between both means: requests just above the fast part may still be of the fast path.
    const [fastMean, slowMean] = [below / fast, (sum - below) / (total - fast)];
    firstBin = Math.ceil((fastMean + slowMean) / 2);
    distance = slowMean - fastMean;
  }
  if (most < leastExplained * variance || distance < leastBins) return undefined;
  return { firstBin, share: 1 - (upTo[firstBin] as number) / total };
}
