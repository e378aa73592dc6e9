/** A score from which on a run of windows is a peak: -ln of a probability of one in a hundred. */
export const peakScore = Math.log(100);
/** A peak ends once the score has stayed below this, in windows of the horizon. */
const calmScore = peakScore / 2;
/** What peaks of scores would exceed `peakScore` by on average, if the probabilities were right. */
const priorExcess = 1.1;
/** The prior weighs as much as this many peaks of all series, and these as so many of one series. */
const priorPeaks = 20;
const pooledPeaks = 10;
/** A series is taken to have seen so many peaks at the rate that chance would give. */
const priorRatePeaks = 2;
/** Weeks after which a peak counts only e^-1. */
const memoryWeeks = 2;
/** No series is taken to be calmer than chance by more. */
const leastExcess = 0.8;

/** A day in half hours: what came at one of them is not new a day later, within one of them. */
const slotMs = 30 * 60_000;
const slotsPerDay = 48;
/** It must be so many times as clear. */
const recurringFactor = 1.5;
/** What does not come again is forgotten by half a day. */
const recurringKeep = 0.5;

/** Peaks of all series over one horizon: what one series knows too little of by itself. */
export interface PeakPool {
  peaks: number;
  excess: number;
}

/**
 * How far the scores of one test go when nothing is wrong. A score is -ln p of a window; what p says
 * in theory is one thing, what this series does another: peaks over a threshold follow it far better.
 * Above the threshold a score is taken as exponential, which is what -ln p of any power-law error is;
 * its mean is the test's own, shrunk towards that of all series and raised by a standard error.
 * (Peaks over threshold: Davison and Smith, "Models for exceedances over high thresholds", 1990, with
 * runs joined to one peak.)
 *
 * What comes every day at six, and goes by itself, pages once: scores are remembered by the time of day,
 * those of anomalies too.
 *
 * Memory: 48 half hours, 4 bytes each for yesterday and for before.
 */
export class TailPeaks {
  readonly #windows: number;
  readonly #windowWeeks: number;
  readonly #keep: number;
  readonly #pool: PeakPool;
  #peaks = 0;
  #excess = 0;
  #weeks = 0;
  /** Highest score of the peak that goes on, 0 for none, and windows since it was last high. */
  #peak = 0;
  #calm = 0;
  /** By half hour: the highest score since it last began, and of the days before, fading. */
  readonly #latest = new Float32Array(slotsPerDay);
  readonly #earlier = new Float32Array(slotsPerDay);
  #slot = -1;

  /** @param windows of the horizon. */
  constructor(windows: number, windowMs: number, pool: PeakPool) {
    this.#windows = windows;
    this.#windowWeeks = windowMs / (7 * 86_400_000);
    this.#keep = Math.exp(-this.#windowWeeks / memoryWeeks);
    this.#pool = pool;
  }

  /** Takes the score of a window that belongs to no anomaly; windows come in order. */
  learn(score: number): void {
    this.#weeks = this.#weeks * this.#keep + this.#windowWeeks;
    this.#peaks *= this.#keep;
    this.#excess *= this.#keep;
    if (score > peakScore) this.#peak = Math.max(this.#peak, score);
    if (this.#peak === 0) return;
    this.#calm = score > calmScore ? 0 : this.#calm + 1;
    if (this.#calm < this.#windows) return;
    this.#peaks += 1;
    this.#excess += this.#peak - peakScore;
    this.#pool.peaks += 1;
    this.#pool.excess += this.#peak - peakScore;
    this.#peak = 0;
    this.#calm = 0;
  }

  /** Takes the score of a window, whatever it belonged to, into what is known of its time of day. */
  remember(startMs: number, score: number): void {
    const slot = slotOf(startMs);
    if (slot !== this.#slot) {
      this.#slot = slot;
      this.#earlier[slot] = this.#before(slot);
      this.#latest[slot] = 0;
    }
    if (score > peakScore && score > (this.#latest[slot] as number)) this.#latest[slot] = score;
  }

  /** Forgets the peak that goes on: an anomaly has grown out of it. */
  forgetPeak(): void {
    this.#peak = 0;
    this.#calm = 0;
  }

  /**
   * The score that peaks exceed `perWeek` times a week, where that is rarer than a peak; or more, where
   * as much came at this time of day before.
   */
  level(perWeek: number, startMs: number): number {
    const byChance = Math.exp(-peakScore) / (this.#windowWeeks * this.#windows);
    const rate = (this.#peaks + priorRatePeaks) / (this.#weeks + priorRatePeaks / byChance);
    const pooled = (this.#pool.excess + priorExcess * priorPeaks) / (this.#pool.peaks + priorPeaks);
    const weight = this.#peaks + pooledPeaks;
    const own = (this.#excess + pooled * pooledPeaks) / weight;
    const cautious = Math.max(leastExcess, own * (1 + 1 / Math.sqrt(weight)));
    const usual = peakScore + cautious * Math.max(0, Math.log(rate / perWeek));
    return Math.max(usual, recurringFactor * this.#atThisTime(slotOf(startMs)));
  }

  /** The highest score of days before within a slot of this one. */
  #atThisTime(slot: number): number {
    const next = (slot + 1) % slotsPerDay;
    const previous = (slot + slotsPerDay - 1) % slotsPerDay;
    // A slot that has begun holds what is of today apart; windows are remembered some time later.
    const now = slot === this.#slot ? (this.#earlier[slot] as number) : this.#before(slot);
    return Math.max(now, this.#before(next), this.#earlier[previous] as number);
  }

  /** What is known of a slot that has not begun today. */
  #before(slot: number): number {
    return Math.max(this.#latest[slot] as number, recurringKeep * (this.#earlier[slot] as number));
  }
}

function slotOf(ms: number): number {
  return Math.floor(ms / slotMs) % slotsPerDay;
}
