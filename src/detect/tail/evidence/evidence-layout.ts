import { faultTemplates } from './fault-templates.ts';

const faults = faultTemplates.length;

/**
 * Where things lie in what is handed out to one test, in doubles; `CusumBank`, `EvidenceWeights` and
 * `TailCounts` say what they are. The kernels have the same offsets, in bytes: fields of
 * faults are side by side, as many as there are faults.
 */
export const evidenceLayout = {
  /**
   * The largest dispersion, windows that were learnt; by what peaks fade in a window, and its length in
   * weeks; peaks.
   */
  mostDispersion: 0,
  learnt: 1,
  keep: 2,
  windowWeeks: 3,
  peaks: 4,
  sum: 16,
  start: 16 + faults,
  highest: 16 + 2 * faults,
  clearest: 16 + 3 * faults,
  last: 16 + 4 * faults,
  varianceInflation: 16 + 5 * faults,
  dispersion: 16 + 6 * faults,
  spread: 16 + 7 * faults,
  drift: 16 + 8 * faults,
} as const;
/** What a window says; then what was found of the fault that there is most evidence for. */
export const scoresLayout = {
  sums: 0,
  excess: faults,
  variances: 2 * faults,
  run: 3 * faults,
  sum: 3 * faults + 1,
  score: 3 * faults + 2,
  varianceInflation: 3 * faults + 3,
  end: 3 * faults + 4,
} as const;
/** Of a window that waits to be learnt. */
export const waitingLayout = {
  score: 0,
  requests: 1,
  excess: 2,
  squares: 2 + faults,
  end: 2 + 2 * faults,
} as const;
/** What EvidenceWeights keeps beside its table; the first ones are 32-bit integers, by their own places. */
export const weightsLayout = {
  ints: { low: 0, bins: 1, table: 2, firstOf: 4 },
  inRegion: 4,
  /** Requests of the baseline. */
  requests: 7,
  means: 8,
  variances: 8 + faults,
  variancesWithin: 8 + 2 * faults,
  regionWeights: 8 + 3 * faults,
} as const;
export const evidenceRegions = 3;
/** Bins before the first one of a baseline that are 0. */
export const binsBefore = 64;

/** Faults that the kernels are made for. */
export const kernelFaults = 16;
