import { driftConstants } from '../../score/local-level.ts';
import { peakScore } from '../../score/peaks-over-threshold.ts';

/** No request says more, in nats, whatever it took. */
const mostEvidence = 4;

/** What evidence is compared with, by `CusumBank` and by the kernel that does most of its work. */
export const evidenceConstants = {
  ...driftConstants,
  peakScore,
  /** Durations below count as this one: 2^-10 ms. */
  leastMs: 2 ** -10,
  /** Bins are an eighth of an octave. */
  binsPerOctave: 8,
  mostEvidence,
  /** What a request says is rounded to whole units of so many nats, which take 16 bits. */
  unit: mostEvidence / 2 ** 14,
  mostRatio: Math.exp(mostEvidence),
  /** Cap of a squared residual, in multiples of the mean one: lone outliers say little of the variance. */
  maxVarianceRatio: 9,
  /**
   * What has fallen below this part of its peak is over, if it is so much less by now: a little that is there
   * goes up and down by chance.
   */
  overShare: 0.6,
  leastFall: 8,
  /** So is what has fallen by so much: what lasted for a day has a peak of thousands. */
  overFall: 60,
  /** Evidence of as many requests as the baseline has is its own noise by this part. */
  noiseOfBaseline: 2,
  /** The dispersion remembers two days, at windows of 10 s; before any window, so many say that it is `prior`. */
  dispersionWindows: 17_280,
  priorWindows: 12,
  priorDispersion: 4,
} as const;
