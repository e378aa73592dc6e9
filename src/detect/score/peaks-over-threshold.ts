import { Arena } from '../../memory/arena.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import type { PeakPool } from './peak-pool.ts';

const memory = Arena.shared();

/** A score from which on a run of windows is a peak: -ln of a probability of one in a hundred. */
export const peakScore = Math.log(100);
/** A peak ends once the score has stayed below this for so many windows. */
const calmScore = peakScore / 2;
const calmWindows = 6;
/** What peaks of scores would exceed `peakScore` by on average, if the probabilities were right. */
const priorExcess = 1.1;
/** The prior weighs as much as this many peaks of all series, and these as so many of one series. */
const priorPeaks = 20;
const pooledPeaks = 10;
/** A series is taken to have seen so many peaks at the rate that chance would give. */
const priorRatePeaks = 2;
/** Weeks after which a peak counts only e^-1. */
const memoryWeeks = 2;
const daysPerWeek = 7;
/** No series is taken to be calmer than by theory: what peaks of a true likelihood ratio exceed by. */
const leastExcess = 1;

/** The highest peaks of a restless series lie further out than exponential ones, by about this part. */
const heavierTail = 0.6;
/** Restless is what is so by more than so many standard errors. */
const sureErrors = 2;
/** A peak counts up to so many times the usual one: what nobody was told of may have been a fault. */
const maxExcessRatio = 4;
/** A burst is a peak that is reached within so many windows. */
export const burstWindows = 12;
/**
 * No level is below so many times what the highest burst exceeded by, and a little more while few days are known: a few
 * rare ones say little of how far the longest goes. It counts up to so many times the third highest. What is alone
 * up there, or rises for longer, may be a fault that nobody was told of.
 */
const overHighest = { times: 3, firstDay: 0.3, timesThird: 2 } as const;
/** What has grown for this many bursts is less like one; after as many again it must be so many times as high. */
const notBurst = { bursts: 3, times: 2 } as const;
/**
 * Where the highest is over what chance would make of as many peaks, twice that at most, there are bursts, of which few
 * are known on the first days. What has grown for up to so many bursts must be as much clearer then: it may be one
 * that is harder, or two in a row; what has grown for `none` is no burst.
 */
const unknownBursts = { full: 1.5, none: 3 } as const;

/**
 * Evidence that has grown for longer than this is, in a series whose level moves by itself, likely of a swing
 * that was not foretold: after as long again it must be twice as clear, and so on.
 */
const slowMs = 15 * 60_000;
/** Until then it must be up to this part clearer, in proportion to its age: most swings are over by then. */
const moreOfSwing = 0.25;
/**
 * What has grown for half of a baseline may in any series be a morning that the baseline is behind of: after as long
 * again it must be twice as clear.
 */
const old = 1 / 2;
/**
 * Where over this part of how the level moves is foreseen, it moves for longer than a forecast takes to follow: that
 * age begins earlier, by up to half.
 */
const foreseenFrom = 0.15;
const earlier = { times: 3, most: 0.5 } as const;

/** What is kept: peaks, by how much they exceeded together, and weeks; all of these fade. */
const PEAKS = 0;
const EXCESS = 1;
const WEEKS = 2;
/** The three highest excesses of bursts, the highest first, fading. */
const HIGHEST = 3;
/** Highest score of the peak that goes on, 0 for none, and windows since it was last high. */
const PEAK = 6;
const CALM = 7;
/** Windows since it began, and until it was highest. */
const WINDOWS = 8;
const RISE = 9;
const doubles = 10;

/** How a score has come about. */
export interface Growth {
  /** 0 to 1: how much of the scores' own level is not foretold, which makes high ones come together. */
  readonly wandering: number;
  /** 0 to 1: how surely it moves, foretold or not. */
  readonly moving: number;
  /** What part of how it moves is foreseen; below 0 where a forecast is worse than none. */
  readonly foreseen: number;
  /** How long the score has grown. */
  readonly ageMs: number;
  /** The same as a part of the baseline. */
  readonly ofBaseline: number;
}

/**
 * How far the scores of one test go when nothing is wrong. A score is -ln p of a window; what p says
 * in theory is one thing, what this series does another: peaks over a threshold follow it far better.
 * Above the threshold a score is taken as exponential, which is what -ln p of any power-law error is;
 * its mean is the test's own, shrunk towards that of all series and raised by a standard error.
 * (Peaks over threshold: Davison and Smith, "Models for exceedances over high thresholds", 1990, with
 * runs joined to one peak.)
 */
export class PeaksOverThreshold {
  readonly #windowWeeks: number;
  readonly #burstMs: number;
  readonly #keep: number;
  readonly #pool: PeakPool;
  readonly #at: number;

  /**
   * @param pool shared with others.
   * @param at where it is kept, where somebody else has room for it: `PeaksOverThreshold.doubles`, all 0.
   */
  constructor(windowMs: number, pool: PeakPool, at?: number) {
    this.#windowWeeks = windowMs / (7 * 86_400_000);
    this.#burstMs = burstWindows * windowMs;
    this.#keep = Math.exp(-this.#windowWeeks / memoryWeeks);
    this.#pool = pool;
    this.#at = at ?? memory.allocateFor(this, doubles);
  }

  static readonly doubles = doubles;

  /** By what peaks fade in a window, and its length in weeks: for a kernel that lets them fade. */
  get fading(): readonly [keep: number, windowWeeks: number] {
    return [this.#keep, this.#windowWeeks];
  }

  /** Takes the score of a window that belongs to no anomaly; windows come in order. */
  learn(score: number): void {
    const all = memory.doubles;
    const at = this.#at;
    const keep = this.#keep;
    all[at + WEEKS] = (all[at + WEEKS] as number) * keep + this.#windowWeeks;
    all[at + PEAKS] = (all[at + PEAKS] as number) * keep;
    all[at + EXCESS] = (all[at + EXCESS] as number) * keep;
    for (let i = at + HIGHEST; i < at + PEAK; i++) all[i] = (all[i] as number) * keep;
    if (!this.#goesOn(score)) return;
    all[at + CALM] = score > calmScore ? 0 : (all[at + CALM] as number) + 1;
    if ((all[at + CALM] as number) >= calmWindows) this.#end();
  }

  /** Takes the score of a window of an anomaly that is open: whether that is a burst is known once it is over. */
  observePeak(score: number): void {
    this.#goesOn(score);
  }

  /**
   * An anomaly is over by itself. If it was a burst, there are such, and nobody is to be told of the next one that
   * is alike. It counts as high as it took to be told: as high as it went, it could hide an outage.
   *
   * @param perWeek as of `level`.
   */
  endEmitted(perWeek: number): void {
    const over = Math.min(this.#of(PEAK), this.level(perWeek)) - peakScore;
    if (this.#isBurst && over > 0) {
      const highest = this.#highest;
      highest.set(highest.map((known) => Math.max(known, over)));
    }
    this.forgetPeak();
  }

  /** Adds a window to the peak that goes on, or begins one; whether there is any. */
  #goesOn(score: number): boolean {
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

  /** The peak that goes on is over. */
  #end(): void {
    const all = memory.doubles;
    const at = this.#at;
    const over = (all[at + PEAK] as number) - peakScore;
    const highest = this.#highest;
    if (this.#isBurst && over > (highest[2] as number)) {
      highest[2] = over;
      highest.sort().reverse();
    }
    const excess = Math.min(over, maxExcessRatio * this.#meanExcess());
    all[at + PEAKS] = (all[at + PEAKS] as number) + 1;
    all[at + EXCESS] = (all[at + EXCESS] as number) + excess;
    this.#pool.add(excess);
    this.forgetPeak();
  }

  /** Takes over what another one has seen. */
  inherit(other: PeaksOverThreshold): void {
    const seen = memory.doubles.subarray(other.#at, other.#at + PEAK);
    memory.doubles.set(seen, this.#at);
  }

  /** Forgets the peak that goes on: an anomaly has grown out of it. */
  forgetPeak(): void {
    memory.doubles.fill(0, this.#at + PEAK, this.#at + doubles);
  }

  /**
   * The score that peaks exceed `perWeek` times a week, where that is rarer than a peak.
   *
   * @param perWeek more than 0.
   */
  level(perWeek: number, growth?: Growth): number {
    const byChance = Math.exp(-peakScore) / (this.#windowWeeks * calmWindows);
    const peaks = this.#of(PEAKS);
    const rate = (peaks + priorRatePeaks) / (this.#of(WEEKS) + priorRatePeaks / byChance);
    const own = this.#meanExcess();
    const wandering = growth?.wandering ?? 0;
    const error = 1 / Math.sqrt(peaks + pooledPeaks);
    const surely = own / leastExcess - 1 - sureErrors * error;
    const restless = Math.min(1, Math.max(0, surely) + wandering);
    const cautious = own * (1 + error) * (1 + restless * heavierTail);
    const byPast = cautious * Math.log(Math.max(1, rate / perWeek));
    const byTheory = leastExcess * Math.log(Math.max(1, byChance / perWeek));
    const byBursts = this.#byHighest(growth?.ageMs);
    return timesBy(growth) * Math.max(peakScore + Math.max(byPast, byTheory), byBursts);
  }

  /** @param ageMs undefined where it is not known how long what is judged has grown. */
  #byHighest(ageMs: number | undefined): number {
    const { firstDay, timesThird } = overHighest;
    const unlike = between0And1((ageMs ?? 0) / this.#burstMs / notBurst.bursts - 1);
    const times = overHighest.times + unlike * (notBurst.times - overHighest.times);
    const [highest, third] = [this.#of(HIGHEST), this.#of(HIGHEST + 2)];
    const days = Math.max(1, this.#of(WEEKS) * daysPerWeek);
    const young =
      1 + (firstDay + this.#unknownBursts(highest, ageMs ?? Number.POSITIVE_INFINITY)) / days;
    return young * (peakScore + times * Math.min(highest, timesThird * third));
  }

  /** How surely there are bursts, 0 to 1, while what is judged may be one of them. */
  #unknownBursts(highest: number, ageMs: number): number {
    const { full, none } = unknownBursts;
    // The highest of so many exponential ones.
    const byChance = this.#meanExcess() * Math.log(this.#of(PEAKS) + pooledPeaks);
    const left = (none - ageMs / this.#burstMs) / (none - full);
    return between0And1(highest / byChance - 1) * between0And1(left);
  }

  /** All but the pool, which is shared. */
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

  /** Whether the peak that goes on was reached as soon as that of a burst is. */
  get #isBurst(): boolean {
    return this.#of(RISE) < burstWindows;
  }

  /** A view, for as long as the memory does not grow. */
  get #highest(): Float64Array {
    return memory.doubles.subarray(this.#at + HIGHEST, this.#at + PEAK);
  }

  #meanExcess(): number {
    const pooled = (this.#pool.excess + priorExcess * priorPeaks) / (this.#pool.peaks + priorPeaks);
    return (this.#of(EXCESS) + pooled * pooledPeaks) / (this.#of(PEAKS) + pooledPeaks);
  }

  #of(field: number): number {
    return memory.doubles[this.#at + field] as number;
  }
}

/** How much clearer it must be for having grown slowly. */
function timesBy(growth: Growth | undefined): number {
  if (growth === undefined) return 1;
  const { moving, foreseen, ageMs, ofBaseline } = growth;
  const sooner = Math.min(earlier.most, earlier.times * Math.max(0, foreseen - foreseenFrom));
  const ofSwing = moreOfSwing * Math.min(1, ageMs / slowMs);
  const slow = moving * (ofSwing + Math.max(0, ageMs / slowMs - 1 + sooner));
  return 1 + Math.max(slow, ofBaseline / old - 1);
}

function between0And1(x: number): number {
  return Math.min(1, Math.max(0, x));
}
