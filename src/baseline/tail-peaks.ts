import type { StateArchive } from './state-archive.ts';

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
/** A peak counts up to so many times the usual one: what nobody was told of may have been a fault. */
const mostOfUsual = 8;
/**
 * A burst is a peak that is reached within so many windows. No level is below so many times what the highest
 * burst exceeded by, and a little more while few days are known: a few rare ones say little of how far the
 * longest goes. It counts up to so many times the third highest. What is alone up there, or rises for longer,
 * may be a fault that nobody was told of.
 */
const burstWindows = 12;
const overHighest = { times: 3, firstDay: 0.3, timesThird: 2 } as const;

/**
 * Evidence that has grown for longer than this is, in a series whose level moves by itself, likely of a swing
 * that was not foretold: after as long again it must be twice as clear, and so on.
 */
const slowMs = 15 * 60_000;

/** Peaks of all series: what one series knows too little of by itself. */
export interface PeakPool {
  peaks: number;
  excess: number;
}

/** How a score has come about. */
export interface Growth {
  /** 0 to 1: how much of the scores' own level is not foretold, which makes high ones come together. */
  readonly wandering: number;
  /** 0 to 1: how surely it moves, foretold or not. */
  readonly moving: number;
  /** How long the score has grown. */
  readonly ageMs: number;
}

/**
 * How far the scores of one test go when nothing is wrong. A score is -ln p of a window; what p says
 * in theory is one thing, what this series does another: peaks over a threshold follow it far better.
 * Above the threshold a score is taken as exponential, which is what -ln p of any power-law error is;
 * its mean is the test's own, shrunk towards that of all series and raised by a standard error.
 * (Peaks over threshold: Davison and Smith, "Models for exceedances over high thresholds", 1990, with
 * runs joined to one peak.)
 */
export class TailPeaks {
  readonly #windowWeeks: number;
  readonly #keep: number;
  readonly #pool: PeakPool;
  #peaks = 0;
  #excess = 0;
  #weeks = 0;
  /** The three highest excesses of bursts, the highest first, fading. */
  readonly #highest = new Float64Array(3);
  /** Highest score of the peak that goes on, 0 for none, and windows since it was last high. */
  #peak = 0;
  #calm = 0;
  /** Windows since it began, and until it was highest. */
  #windows = 0;
  #rise = 0;

  constructor(windowMs: number, pool: PeakPool) {
    this.#windowWeeks = windowMs / (7 * 86_400_000);
    this.#keep = Math.exp(-this.#windowWeeks / memoryWeeks);
    this.#pool = pool;
  }

  /** Takes the score of a window that belongs to no anomaly; windows come in order. */
  learn(score: number): void {
    this.#weeks = this.#weeks * this.#keep + this.#windowWeeks;
    this.#peaks *= this.#keep;
    this.#excess *= this.#keep;
    for (let i = 0; i < 3; i++) this.#highest[i] = (this.#highest[i] as number) * this.#keep;
    if (score > peakScore && score > this.#peak) {
      this.#peak = score;
      this.#rise = this.#windows;
    }
    if (this.#peak === 0) return;
    this.#windows += 1;
    this.#calm = score > calmScore ? 0 : this.#calm + 1;
    if (this.#calm < calmWindows) return;
    const over = this.#peak - peakScore;
    if (this.#rise < burstWindows && over > (this.#highest[2] as number)) {
      this.#highest[2] = over;
      this.#highest.sort().reverse();
    }
    const excess = Math.min(over, mostOfUsual * this.#usualExcess());
    this.#peaks += 1;
    this.#excess += excess;
    this.#pool.peaks += 1;
    this.#pool.excess += excess;
    this.forgetPeak();
  }

  /** Takes over what another one has seen. */
  inherit(other: TailPeaks): void {
    this.#peaks = other.#peaks;
    this.#excess = other.#excess;
    this.#weeks = other.#weeks;
    this.#highest.set(other.#highest);
  }

  /** Forgets the peak that goes on: an anomaly has grown out of it. */
  forgetPeak(): void {
    this.#peak = 0;
    this.#calm = 0;
    this.#windows = 0;
    this.#rise = 0;
  }

  /**
   * The score that peaks exceed `perWeek` times a week, where that is rarer than a peak.
   *
   * @param perWeek more than 0.
   */
  level(perWeek: number, { wandering = 0, moving = 0, ageMs = 0 }: Partial<Growth> = {}): number {
    const byChance = Math.exp(-peakScore) / (this.#windowWeeks * calmWindows);
    const rate = (this.#peaks + priorRatePeaks) / (this.#weeks + priorRatePeaks / byChance);
    const own = this.#usualExcess();
    const restless = Math.min(1, Math.max(0, own / leastExcess - 1) + wandering);
    const error = 1 / Math.sqrt(this.#peaks + pooledPeaks);
    const cautious = own * (1 + error) * (1 + restless * heavierTail);
    const byPast = cautious * Math.log(Math.max(1, rate / perWeek));
    const byTheory = leastExcess * Math.log(Math.max(1, byChance / perWeek));
    const slowly = Math.max(0, ageMs / slowMs - 1);
    const times = 1 + moving * slowly;
    return times * Math.max(peakScore + Math.max(byPast, byTheory), this.#byHighest());
  }

  #byHighest(): number {
    const [highest, , third] = this.#highest as unknown as [number, number, number];
    const { times, firstDay, timesThird } = overHighest;
    const young = 1 + firstDay / Math.max(1, this.#weeks * daysPerWeek);
    return young * (peakScore + times * Math.min(highest, timesThird * third));
  }

  /** All but the pool, which is shared. */
  carry(state: StateArchive): void {
    state.section('tail peaks', 2, () => {
      this.#peaks = state.number(this.#peaks);
      this.#excess = state.number(this.#excess);
      this.#weeks = state.number(this.#weeks);
      state.fill(this.#highest);
      this.#peak = state.number(this.#peak);
      this.#calm = state.number(this.#calm);
      this.#windows = state.number(this.#windows);
      this.#rise = state.number(this.#rise);
    });
  }

  #usualExcess(): number {
    const pooled = (this.#pool.excess + priorExcess * priorPeaks) / (this.#pool.peaks + priorPeaks);
    return (this.#excess + pooled * pooledPeaks) / (this.#peaks + pooledPeaks);
  }
}
