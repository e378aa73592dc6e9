import { PairEvidence } from './pair-evidence.ts';
import { slowCounts, type TailMinute } from './tail-minutes.ts';

/**
 * The search for an end of the interval, in logarithms of the ratio: the first step, doubled until the ratio
 * is excluded; how exactly the end is found; and how far from the measured ratio it is looked for.
 */
const search = { step: 0.05, exactTo: 0.005, farthest: Math.log(64) } as const;

/**
 * Ratios of the candidate's quantile to the baseline's that the evidence does not exclude, however often it
 * is asked: by the same e-process as the verdict. [0, Infinity] with too few minutes.
 *
 * @param ratio that was measured
 * @param errorShare of either end.
 * Cost: about 15 passes over the minutes, of some microseconds a minute each.
 */
export function ratioInterval(
  minutes: readonly TailMinute[],
  q: number,
  ratio: number,
  errorShare: number,
): readonly [number, number] {
  const least = Math.log(1 / errorShare);
  // A minute at most doubles the evidence.
  const isDecidable = minutes.length * Math.LN2 >= least && ratio > 0 && ratio < Infinity;
  if (!isDecidable) return [0, Number.POSITIVE_INFINITY];
  const isExcluded = (other: number, isFaster: boolean) =>
    evidenceAt(minutes, q, other, isFaster) >= least;
  const below = distanceTo((distance) => isExcluded(ratio * Math.exp(-distance), false));
  const above = distanceTo((distance) => isExcluded(ratio * Math.exp(distance), true));
  return [ratio * Math.exp(-below), ratio * Math.exp(above)];
}

/** The distance from which on ratios are excluded; Infinity without any. */
function distanceTo(isExcluded: (distance: number) => boolean): number {
  let near = 0;
  let far: number = search.step;
  while (!isExcluded(far)) {
    if (far > search.farthest) return Number.POSITIVE_INFINITY;
    near = far;
    far *= 2;
  }
  while (far - near > search.exactTo) {
    const middle = (near + far) / 2;
    if (isExcluded(middle)) far = middle;
    else near = middle;
  }
  return far;
}

/** Logarithm of the evidence that the candidate is slower, or faster, than a multiple of the baseline. */
function evidenceAt(
  minutes: readonly TailMinute[],
  q: number,
  ratio: number,
  isFaster: boolean,
): number {
  const evidence = new PairEvidence();
  for (const minute of minutes) {
    const { candidate, baseline } = slowCounts(minute, q, { ratio }, isFaster ? 'slow' : 'fast');
    if (isFaster) evidence.observe(baseline, candidate);
    else evidence.observe(candidate, baseline);
  }
  return evidence.log;
}
