import { PairEvidence } from './pair-evidence.ts';
import { slowCounts, type TailMinute } from './tail-minutes.ts';

/** Ratios that are looked at, and the steps of the search: to 0.3 %. */
const search = { least: 1 / 64, most: 64, steps: 11 } as const;

/**
 * Ratios of the candidate's quantile to the baseline's that the evidence does not exclude, however often it
 * is asked: by the same e-process as the verdict. [0, Infinity] with too few minutes.
 *
 * @param errorShare of either end.
 * Cost: `2 * search.steps` passes over the minutes, of some microseconds a minute each.
 */
export function ratioInterval(
  minutes: readonly TailMinute[],
  q: number,
  errorShare: number,
): readonly [number, number] {
  const least = Math.log(1 / errorShare);
  // No more can come of so few.
  if (minutes.length * Math.LN2 < least) return [0, Number.POSITIVE_INFINITY];
  const isAbove = (ratio: number) => evidenceAt(minutes, q, ratio, false) >= least;
  const isBelow = (ratio: number) => evidenceAt(minutes, q, ratio, true) >= least;
  return [
    isAbove(search.least) ? bisect((ratio) => !isAbove(ratio)) : 0,
    isBelow(search.most) ? bisect(isBelow) : Number.POSITIVE_INFINITY,
  ];
}

/** The ratio from which on `isBeyond` holds. */
function bisect(isBeyond: (ratio: number) => boolean): number {
  let low = Math.log(search.least);
  let high = Math.log(search.most);
  for (let step = 0; step < search.steps; step++) {
    const middle = (low + high) / 2;
    if (isBeyond(Math.exp(middle))) high = middle;
    else low = middle;
  }
  return Math.exp((low + high) / 2);
}

function evidenceAt(
  minutes: readonly TailMinute[],
  q: number,
  ratio: number,
  isFaster: boolean,
): number {
  const evidence = new PairEvidence();
  const margin = { ratio, addedMs: 0 };
  for (const minute of minutes) {
    const { candidate, baseline } = slowCounts(minute, q, margin);
    if (isFaster) evidence.observe(baseline, candidate);
    else evidence.observe(candidate, baseline);
  }
  return evidence.log;
}
