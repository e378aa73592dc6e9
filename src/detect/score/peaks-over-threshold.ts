import { Arena } from '../../memory/arena.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import type { LocalLevel } from './local-level.ts';
import type { PeakPool } from './peak-pool.ts';

const memory = Arena.shared();

/** Score from which a run of windows is a peak: -ln of a probability of one in a hundred. */
export const peakScore = Math.log(100);
/** A peak ends after this many windows below this score. */
const calmScore = peakScore / 2;
/** Tuned with `npm run eval`; test/detect/score/peaks-over-threshold.test.ts holds them. */
const tuned = {
  calmWindows: 6,
  /** Mean excess over `peakScore` if the probabilities were exact. */
  priorExcess: 1.1,
  /** Weights: of the prior, in peaks of all series; of all series' mean, in peaks of this one. */
  priorPeaks: 20,
  pooledPeaks: 10,
  /** Weight of the rate by chance, in peaks of this series. */
  priorRatePeaks: 2,
  /** Weeks after which a peak's weight has decayed to e^-1. */
  memoryWeeks: 2,
  /** Lower bound of a mean excess: that of a true likelihood ratio. */
  leastExcess: 1,
  /** Part by which the highest peaks of an overdispersed series exceed exponential ones. */
  heavierTail: 0.6,
  /** Standard errors above `leastExcess` from which a series counts as overdispersed. */
  sureErrors: 2,
  /** Upper bound of one excess over the mean: an undetected fault may have caused it. */
  maxExcessRatio: 4,
  /**
   * Factor of a threshold over the highest burst's excess, larger by `firstDay` / days at first. The highest
   * counts up to `timesThird` times the third highest: a single outlier may be an undetected fault.
   */
  overHighest: { times: 3, firstDay: 0.3, timesThird: 2 },
  /** Evidence older than so many bursts is less likely one: its factor falls to `times` after as many again. */
  notBurst: { bursts: 3, times: 2 },
  /**
   * Ages, in bursts, up to which the threshold is raised fully, and from which not at all, for bursts not yet
   * observed: by how far the highest one exceeds chance, up to twofold, divided by the days.
   */
  unknownBursts: { full: 1.5, none: 3 },
  /**
   * Age from which evidence is likely an unpredicted change, where the level varies. Its threshold doubles after
   * as long again, and so on.
   */
  slowMs: 15 * 60_000,
  /** Part by which the threshold has risen at that age, in proportion to the age. */
  youngIncrease: 0.25,
  /** Part of the baseline's span from which any evidence may be a daily rise: its threshold doubles likewise. */
  old: 1 / 2,
  /** Predictability above which changes outlast the filter's delay: `slowMs` then starts earlier. */
  predictableFrom: 0.15,
  earlier: { times: 3, most: 0.5 },
} as const;

/** Windows within which a burst reaches its peak. */
export const burstWindows = 12;

/** Fields that decay: peaks, the sum of their excesses, weeks observed. */
const PEAKS = 0;
const EXCESS = 1;
const WEEKS = 2;
/** The three highest excesses of bursts, in descending order, decay too. */
const HIGHEST = 3;
/** Highest score of the current peak, 0 for none, and windows since it was last high. */
const PEAK = 6;
const CALM = 7;
/** Windows since the peak began, and until it was highest. */
const WINDOWS = 8;
const RISE = 9;

/** Growth of the evidence of a score. */
export interface Growth
  extends Pick<LocalLevel, 'nonStationarity' | 'levelVariation' | 'predictability'> {
  /** Time since the evidence began. */
  readonly ageMs: number;
  /** The same as a part of the baseline's span. */
  readonly ofBaseline: number;
}

/**
 * Distribution of one test's scores while nothing is wrong, by peaks over a threshold (Davison and Smith,
 * "Models for exceedances over high thresholds", 1990), with runs joined to one peak. A score is -ln p of a
 * window. Excesses are taken as exponential, as -ln p of any power-law error is. Their mean is the test's
 * own, shrunk towards that of all series and raised by a standard error.
 */
export class PeaksOverThreshold {
  /** Size in doubles. */
  static readonly doubles = RISE + 1;

  readonly #windowWeeks: number;
  readonly #burstMs: number;
  readonly #keep: number;
  readonly #pool: PeakPool;
  readonly #at: number;

  /**
   * @param pool shared by all tests.
   * @param at offset in the arena, if the caller has allocated it: `PeaksOverThreshold.doubles`, all 0.
   */
  constructor(windowMs: number, pool: PeakPool, at?: number) {
    this.#windowWeeks = windowMs / (7 * 86_400_000);
    this.#burstMs = burstWindows * windowMs;
    this.#keep = Math.exp(-this.#windowWeeks / tuned.memoryWeeks);
    this.#pool = pool;
    this.#at = at ?? memory.allocateFor(this, PeaksOverThreshold.doubles);
  }

  /** Decay factor of a window, and its length in weeks, for the kernel. */
  get decay(): readonly [keep: number, windowWeeks: number] {
    return [this.#keep, this.#windowWeeks];
  }

  /** Learns the score of a window outside any anomaly; windows come in order. */
  learn(score: number): void {
    const all = memory.doubles;
    const at = this.#at;
    const keep = this.#keep;
    for (let i = at; i < at + PEAK; i++) all[i] = (all[i] as number) * keep;
    all[at + WEEKS] = (all[at + WEEKS] as number) + this.#windowWeeks;
    if (!this.observePeak(score)) return;
    all[at + CALM] = score > calmScore ? 0 : (all[at + CALM] as number) + 1;
    if ((all[at + CALM] as number) >= tuned.calmWindows) this.#end();
  }

  /**
   * Ends an emitted anomaly that recovered. A burst is learnt, so that similar ones are not emitted. It
   * counts at most as high as its own threshold: its full height could hide an outage.
   *
   * @param perWeek as of `level`.
   */
  endEmitted(perWeek: number): void {
    const over = Math.min(this.#of(PEAK), this.level(perWeek)) - peakScore;
    if (this.#isBurst && over > 0) {
      const highest = this.#highest;
      highest.set(highest.map((each) => Math.max(each, over)));
    }
    this.forgetPeak();
  }

  /** Adds a window's score to the current peak, or begins one; false while there is none. */
  observePeak(score: number): boolean {
    const all = memory.doubles;
    const at = this.#at;
    if (score > peakScore && score > (all[at + PEAK] as number)) {
      all[at + PEAK] = score;
      all[at + RISE] = all[at + WINDOWS] as number;
    }
    if (all[at + PEAK] === 0) return false;
    all[at + WINDOWS] = (all[at + WINDOWS] as number) + 1;
    return true;
  }

  #end(): void {
    const all = memory.doubles;
    const at = this.#at;
    const over = (all[at + PEAK] as number) - peakScore;
    const highest = this.#highest;
    if (this.#isBurst && over > (highest[2] as number)) {
      highest[2] = over;
      highest.sort().reverse();
    }
    const excess = Math.min(over, tuned.maxExcessRatio * this.#meanExcess());
    all[at + PEAKS] = (all[at + PEAKS] as number) + 1;
    all[at + EXCESS] = (all[at + EXCESS] as number) + excess;
    this.#pool.add(excess);
    this.forgetPeak();
  }

  /** Copies the peaks of another one, but its current peak. */
  inherit(other: PeaksOverThreshold): void {
    const seen = memory.doubles.subarray(other.#at, other.#at + PEAK);
    memory.doubles.set(seen, this.#at);
  }

  /** Forgets the current peak, which an anomaly now accounts for. */
  forgetPeak(): void {
    memory.doubles.fill(0, this.#at + PEAK, this.#at + PeaksOverThreshold.doubles);
  }

  /** Score that peaks exceed `perWeek` (> 0) times a week, and at least `peakScore`. */
  level(perWeek: number, growth?: Growth): number {
    const byChance = Math.exp(-peakScore) / (this.#windowWeeks * tuned.calmWindows);
    const peaks = this.#of(PEAKS);
    const rate =
      (peaks + tuned.priorRatePeaks) / (this.#of(WEEKS) + tuned.priorRatePeaks / byChance);
    const own = this.#meanExcess();
    const nonStationarity = growth?.nonStationarity ?? 0;
    const error = 1 / Math.sqrt(peaks + tuned.pooledPeaks);
    const significant = own / tuned.leastExcess - 1 - tuned.sureErrors * error;
    const overdispersion = Math.min(1, Math.max(0, significant) + nonStationarity);
    const upperMean = own * (1 + error) * (1 + overdispersion * tuned.heavierTail);
    const byPast = upperMean * Math.log(Math.max(1, rate / perWeek));
    const byTheory = tuned.leastExcess * Math.log(Math.max(1, byChance / perWeek));
    const byBursts = this.#byHighest(growth?.ageMs);
    return factorOf(growth) * Math.max(peakScore + Math.max(byPast, byTheory), byBursts);
  }

  /** @param ageMs age of the evidence, if it is known. */
  #byHighest(ageMs: number | undefined): number {
    const { times: maxTimes, firstDay, timesThird } = tuned.overHighest;
    const unlike = between0And1((ageMs ?? 0) / this.#burstMs / tuned.notBurst.bursts - 1);
    const times = maxTimes + unlike * (tuned.notBurst.times - maxTimes);
    const [highest, third] = [this.#of(HIGHEST), this.#of(HIGHEST + 2)];
    const days = Math.max(1, this.#of(WEEKS) * 7);
    const increase = firstDay + this.#unknownBursts(highest, ageMs ?? Number.POSITIVE_INFINITY);
    return (1 + increase / days) * (peakScore + times * Math.min(highest, timesThird * third));
  }

  /** Certainty that the series has bursts, 0 to 1, weighted by how likely the evidence is one. */
  #unknownBursts(highest: number, ageMs: number): number {
    const { full, none } = tuned.unknownBursts;
    // Expected maximum of as many exponential excesses.
    const byChance = this.#meanExcess() * Math.log(this.#of(PEAKS) + tuned.pooledPeaks);
    const left = (none - ageMs / this.#burstMs) / (none - full);
    return between0And1(highest / byChance - 1) * between0And1(left);
  }

  /** Leaves out the pool, which is shared. */
  serialize(state: StateArchive): void {
    state.section('tail peaks', 2, () => {
      for (const field of [PEAKS, EXCESS, WEEKS]) this.#serialize(state, field);
      state.fill(this.#highest);
      for (const field of [PEAK, CALM, WINDOWS, RISE]) this.#serialize(state, field);
    });
  }

  #serialize(state: StateArchive, field: number): void {
    memory.doubles[this.#at + field] = state.number(this.#of(field));
  }

  /** True where the current peak was reached within `burstWindows`. */
  get #isBurst(): boolean {
    return this.#of(RISE) < burstWindows;
  }

  /** View, valid until the memory grows. */
  get #highest(): Float64Array {
    return memory.doubles.subarray(this.#at + HIGHEST, this.#at + PEAK);
  }

  #meanExcess(): number {
    const pooled =
      (this.#pool.excess + tuned.priorExcess * tuned.priorPeaks) /
      (this.#pool.peaks + tuned.priorPeaks);
    return (this.#of(EXCESS) + pooled * tuned.pooledPeaks) / (this.#of(PEAKS) + tuned.pooledPeaks);
  }

  #of(field: number): number {
    return memory.doubles[this.#at + field] as number;
  }
}

/** Factor of the threshold for evidence that has grown slowly. */
function factorOf(growth: Growth | undefined): number {
  if (growth === undefined) return 1;
  const { levelVariation, predictability, ageMs, ofBaseline } = growth;
  const beyond = Math.max(0, predictability - tuned.predictableFrom);
  const sooner = Math.min(tuned.earlier.most, tuned.earlier.times * beyond);
  const whileYoung = tuned.youngIncrease * Math.min(1, ageMs / tuned.slowMs);
  const slow = levelVariation * (whileYoung + Math.max(0, ageMs / tuned.slowMs - 1 + sooner));
  return 1 + Math.max(slow, ofBaseline / tuned.old - 1);
}

function between0And1(x: number): number {
  return Math.min(1, Math.max(0, x));
}
