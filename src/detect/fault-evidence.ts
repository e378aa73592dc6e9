import { DriftForecast } from '../baseline/drift-forecast.ts';
import type { StateArchive } from '../baseline/state-archive.ts';
import { type PeakPool, peakScore, TailPeaks } from '../baseline/tail-peaks.ts';
import { faultTemplates } from './fault-templates.ts';
import { quarantineWindows } from './quarantine-windows.ts';

const count = faultTemplates.length;

/** Windows that wait to be learnt, at most. */
export const waitingWindows = quarantineWindows + 2;
/** The dispersion remembers two days, at windows of 10 s; before any window, so many say that it is this. */
const dispersionWindows = 17_280;
const prior = { dispersion: 4, windows: 12 } as const;
/** A squared residual counts up to so many times the usual one: lone outliers say little of it. */
const mostOfUsual = 9;
/**
 * What has fallen below this part of its peak is over, if it is so much less by now: a little that is there
 * goes up and down by chance.
 */
const overShare = 0.6;
const leastFall = 8;
/** So is what has fallen by so much: what lasted for a day has a peak of thousands. */
const overFall = 60;

/**
 * What is kept of each fault, side by side, as all of it is looked at in each window: the evidence so far,
 * when it began, its peak, its clearest window; what the last window said for it; and the mean of what windows are
 * from the usual, squared, of chance.
 */
const SUM = 0;
const START = 1;
const HIGHEST = 2;
const CLEAREST = 3;
const LAST = 4;
const DISPERSION = 5;
const perFault = 8;

/** Of a window that waits to be learnt: its score, its requests, what it says beyond the usual, and its squares. */
const SCORE = 0;
const REQUESTS = 1;
const EXCESS = 2;
const SQUARES = EXCESS + count;
const perWaiting = SQUARES + count;

/** What a window says for each fault. */
export interface Said {
  readonly sums: Float64Array;
  /** What of that is more than usual, and the variance that chance has. */
  readonly excess: Float64Array;
  readonly variances: Float64Array;
}

/**
 * Evidence for each fault, added up over windows for as long as it is above 0 (CUSUM; Page, "Continuous
 * inspection schemes", 1954). What is foretold of late (`DriftForecast`) is taken off, and the rest is divided by
 * the dispersion of the series: how much more windows vary than chance has it. And how far it goes when
 * nothing is wrong (`TailPeaks`).
 *
 * Memory: 5 KB. Cost: a tenth of a microsecond a window.
 */
export class FaultEvidence {
  readonly #faults = new Float64Array(count * perFault);
  readonly #waiting = new Float64Array(waitingWindows * perWaiting);
  readonly #peaks: TailPeaks;
  readonly #drift = new DriftForecast(count);
  /** Windows that were learnt, by it or the one it came after. */
  #learnt = 0;

  /** @param pool shared by all of them. */
  constructor(windowMs: number, pool: PeakPool) {
    this.#peaks = new TailPeaks(windowMs, pool);
    for (let t = 0; t < count; t++) this.#put(t, DISPERSION, prior.dispersion);
  }

  /** Adds a window; which fault there is most evidence for, of two that say the same that of more requests. */
  add(startMs: number, requests: number, { sums }: Said): number {
    const faults = this.#faults;
    const drift = this.#drift;
    for (let t = 0; t < count; t++) {
      const at = t * perFault;
      const foretold = requests * Math.max(0, drift.level(t));
      const restless = this.restlessness(t);
      const gain = ((sums[t] as number) - foretold) / restless;
      const before = faults[at + SUM] as number;
      if (before <= 0) {
        faults[at + START] = startMs;
        faults[at + CLEAREST] = 0;
        faults[at + HIGHEST] = 0;
      }
      const sum = before + gain;
      faults[at + SUM] = Math.max(0, sum);
      if (sum > (faults[at + HIGHEST] as number)) faults[at + HIGHEST] = sum;
      if (gain > (faults[at + CLEAREST] as number)) faults[at + CLEAREST] = gain;
      faults[at + LAST] = gain;
    }
    this.#endWhatIsOver();
    let most = 0;
    for (let t = 1; t < count; t++) if (this.sum(t) >= this.sum(most)) most = t;
    return most;
  }

  sum(fault: number): number {
    return this.#of(fault, SUM);
  }

  /** Start of the window with which its evidence began. */
  startMs(fault: number): number {
    return this.#of(fault, START);
  }

  /** What the last window added. */
  last(fault: number): number {
    return this.#of(fault, LAST);
  }

  /** What remains without the clearest window. */
  rest(fault: number): number {
    return this.sum(fault) - this.#of(fault, CLEAREST);
  }

  dispersion(fault: number): number {
    return this.#of(fault, DISPERSION);
  }

  /** What its evidence is divided by: the dispersion, and how much its level varies. */
  restlessness(fault: number): number {
    return this.dispersion(fault) * this.#drift.spread(fault);
  }

  /** The largest dispersion. */
  get mostDispersion(): number {
    let most = 0;
    for (let t = 0; t < count; t++) most = Math.max(most, this.dispersion(t));
    return most;
  }

  /** What the score of a fault must be after a window, by the past: `TailPeaks.level`. */
  level(fault: number, windowStartMs: number, perWeek: number): number {
    const ageMs = windowStartMs - this.startMs(fault);
    const { wandering, moving } = this.#drift;
    return this.#peaks.level(perWeek, { wandering, moving, ageMs });
  }

  /** Keeps a window at a place, to be learnt when its time has come. */
  await(place: number, score: number, requests: number, { excess, variances }: Said): void {
    const from = place * perWaiting;
    const waiting = this.#waiting;
    waiting[from + SCORE] = score;
    waiting[from + REQUESTS] = requests;
    for (let t = 0; t < count; t++) {
      const beyond = excess[t] as number;
      waiting[from + EXCESS + t] = beyond;
      // Where nothing can vary it is not a number, and nothing is learnt.
      const variance = variances[t] as number;
      waiting[from + SQUARES + t] = variance > 0 ? beyond ** 2 / variance : Number.NaN;
    }
  }

  /**
   * Learns the window at a place, which belongs to no anomaly. One of no requests it has not judged.
   *
   * @param variances of what a usual request says.
   */
  learn(place: number, variances: Float64Array): void {
    const from = place * perWaiting;
    const waiting = this.#waiting;
    const requests = waiting[from + REQUESTS] as number;
    if (requests === 0) return;
    this.#peaks.learn(waiting[from + SCORE] as number);
    this.#learnt += 1;
    const weight = 1 / (Math.min(this.#learnt, dispersionWindows) + prior.windows);
    for (let t = 0; t < count; t++) {
      const usual = this.dispersion(t);
      const square = Math.min(waiting[from + SQUARES + t] as number, mostOfUsual * usual);
      if (square >= 0) this.#put(t, DISPERSION, Math.max(1, usual + weight * (square - usual)));
    }
    if (!this.#drift.take(requests, waiting, from + EXCESS)) return;
    this.#drift.follow((t) => (variances[t] as number) * this.dispersion(t));
  }

  /** Takes over how restless another one is, and how far it goes. */
  inherit(other: FaultEvidence): void {
    this.#peaks.inherit(other.#peaks);
    this.#drift.inherit(other.#drift);
    this.#learnt = other.#learnt;
    for (let t = 0; t < count; t++) this.#put(t, DISPERSION, other.dispersion(t));
  }

  forgetPeak(): void {
    this.#peaks.forgetPeak();
  }

  /** Forgets what is foretold: the baseline that it compares with is another one. */
  forgetDrift(): void {
    this.#drift.forget();
  }

  /** Forgets the evidence, not the past. */
  forget(): void {
    for (let t = 0; t < count; t++) this.#put(t, SUM, 0);
  }

  carry(state: StateArchive): void {
    state.section('fault evidence', 2, () => {
      this.#peaks.carry(state);
      this.#drift.carry(state);
      state.fill(this.#faults);
      state.fill(this.#waiting);
      this.#learnt = state.number(this.#learnt);
    });
  }

  /**
   * Evidence that has fallen far from where it was is of something that is over: it counts no more. If it was
   * the clearest, no more does what it left for other faults.
   */
  #endWhatIsOver(): void {
    let clearest = 0;
    for (let t = 1; t < count; t++) {
      if (this.#of(t, HIGHEST) > this.#of(clearest, HIGHEST)) clearest = t;
    }
    if (this.#of(clearest, HIGHEST) <= peakScore) return;
    if (this.#isOver(clearest)) this.forget();
    else for (let t = 0; t < count; t++) if (this.#isOver(t)) this.#put(t, SUM, 0);
  }

  #isOver(t: number): boolean {
    const highest = this.#of(t, HIGHEST);
    const least = Math.max(Math.min(overShare * highest, highest - leastFall), highest - overFall);
    return highest > peakScore && this.sum(t) < least;
  }

  #of(fault: number, field: number): number {
    return this.#faults[fault * perFault + field] as number;
  }

  #put(fault: number, field: number, value: number): void {
    this.#faults[fault * perFault + field] = value;
  }
}
