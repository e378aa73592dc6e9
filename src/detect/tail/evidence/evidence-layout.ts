import { invariant } from '../../../base/invariant.ts';
import { faultTemplates } from './fault-templates.ts';

const faults = faultTemplates.length;
const kernelFaults = 16;
invariant(faults === kernelFaults, `the evidence kernels are made for ${kernelFaults} faults`);

/**
 * Offsets in doubles of a test's numbers; `CusumBank`, `EvidenceWeights` and `TailCounts` define them. The
 * kernels have the same offsets in bytes. A field of faults has a double a fault, side by side.
 */
export const evidenceLayout = {
  mostDispersion: 0,
  /** Windows learnt. */
  learnt: 1,
  /** Decay factor of a window for peaks, its length in weeks, and the peaks. */
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
  localLevel: 16 + 8 * faults,
} as const;
/** Scores of a window, followed by those of the fault with most evidence. */
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
/** A window that waits to be learnt. */
export const waitingLayout = {
  score: 0,
  requests: 1,
  excess: 2,
  squares: 2 + faults,
  end: 2 + 2 * faults,
} as const;
/** `EvidenceWeights` without its table; `ints` are offsets of 32-bit integers. */
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
/** Empty bins before the first one of a baseline. */
export const binsBefore = 64;
