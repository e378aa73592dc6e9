import { localLevelConstants } from '../../score/local-level.ts';
import { peakScore } from '../../score/peaks-over-threshold.ts';

/** Upper bound of a request's score, in nats. */
const mostEvidence = 4;

/** Constants of the evidence, shared with its kernels. */
export const evidenceConstants = {
  ...localLevelConstants,
  peakScore,
  /** Lower bound of durations: 2^-10 ms. */
  leastMs: 2 ** -10,
  binsPerOctave: 8,
  mostEvidence,
  /** Scores of requests are rounded to multiples of this value in nats, in 16 bits. */
  unit: mostEvidence / 2 ** 14,
  mostRatio: Math.exp(mostEvidence),
  /** Upper bound of a squared residual, in multiples of the mean one: it may be a lone outlier. */
  maxVarianceRatio: 9,
  /**
   * Evidence is over below this part of its peak, if it has fallen by at least `leastFall`: a little of it
   * rises and falls by chance.
   */
  overShare: 0.6,
  leastFall: 8,
  /** So is evidence that has fallen by this much: after a day its peak is in the thousands. */
  overFall: 60,
  /** Weight of the baseline's noise: evidence is divided by 1 + 2 × requests / requests of the baseline. */
  noiseOfBaseline: 2,
  /** Memory of the dispersion: two days of 10 s windows; the prior weighs as much as 12 of them. */
  dispersionWindows: 17_280,
  priorWindows: 12,
  priorDispersion: 4,
} as const;
