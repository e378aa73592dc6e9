import { slowPathShare } from './evidence/fault-templates.ts';

/** The slow one of two paths that requests take: the cache is missed, the early exit is not taken. */
export interface SlowPath {
  /** The first bin of it, half-way between both. */
  readonly firstBin: number;
  /** Part of the requests that take it. */
  readonly share: number;
}

/** Two parts that explain so much of the variance are two: those of a lognormal explain 0.64. */
const leastExplained = 0.8;
/** Fewer requests are no path. */
const leastRequests = 20;
/** The variance of what lies anywhere in a bin. */
const varianceOfBin = 1 / 12;

/**
 * Parts durations in two where that explains most of the variance of their logarithms (Otsu, "A threshold
 * selection method from gray-level histograms", 1979); undefined where they are not clearly two.
 *
 * @param upTo requests in all bins before each, which are even in the logarithm; and in all of them.
 * Cost: some nanoseconds a bin.
 */
export function slowPathOf(upTo: Float64Array, bins: number): SlowPath | undefined {
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
  let [most, firstBin, below] = [0, 0, 0];
  for (let bin = 1; bin < bins; bin++) {
    const fast = upTo[bin] as number;
    below += (fast - (upTo[bin - 1] as number)) * (bin - 1);
    // The fast path has what the fault takes from it.
    if (fast < slowPathShare * total || total - fast < leastRequests) continue;
    const part = fast / total;
    const between = (mean * part - below / total) ** 2 / (part * (1 - part));
    if (between <= most) continue;
    most = between;
    // Half-way: just above the fast part some of it may lie one day.
    firstBin = Math.ceil((below / fast + (sum - below) / (total - fast)) / 2);
  }
  if (most < leastExplained * variance) return undefined;
  return { firstBin, share: 1 - (upTo[firstBin] as number) / total };
}
