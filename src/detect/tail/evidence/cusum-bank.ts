import { Arena } from '../../../memory/arena.ts';
import type { StateArchive } from '../../../snapshot/archive.ts';
import { type DetectOptions, quarantineWindows } from '../../options/detect-options.ts';
import { LocalLevel } from '../../score/local-level.ts';
import type { PeakPool } from '../../score/peak-pool.ts';
import { PeaksOverThreshold } from '../../score/peaks-over-threshold.ts';
import { evidenceConstants } from './evidence-constants.ts';
import { dueAfterLearning, EvidenceKernel } from './evidence-kernel.ts';
import { evidenceLayout, waitingLayout } from './evidence-layout.ts';
import { faultTemplates } from './fault-templates.ts';
import type { WindowScores } from './window-scores.ts';

const kernel = EvidenceKernel.shared();
const memory = Arena.shared();

const count = faultTemplates.length;

/** Windows that wait to be learnt, at most. */
export const waitingWindows = quarantineWindows + 2;
/** What is saved of each fault, side by side: places in `evidenceLayout`; of eight numbers, the last two are 0. */
const savedFields = ['sum', 'start', 'highest', 'clearest', 'last', 'dispersion'] as const;
const perFault = 8;
/** Windows that wait to be learnt come last. */
const { learnt } = evidenceLayout;
const waitingFrom = evidenceLayout.drift + LocalLevel.doubles(count);
const doubles = waitingFrom + waitingWindows * waitingLayout.end;

/**
 * Evidence for each fault, added up over windows for as long as it is above 0 (CUSUM; Page, "Continuous
 * inspection schemes", 1954). The predicted level (`LocalLevel`) is taken off, and the rest is divided by
 * the dispersion of the series: how much more windows vary than chance has it. And how far it goes when
 * nothing is wrong (`PeaksOverThreshold`).
 *
 * Memory: 4 KB, side by side. Cost: a tenth of a microsecond a window, by the kernel.
 */
export class CusumBank {
  /** Where it is kept. */
  readonly at: number;
  readonly #peaks: PeaksOverThreshold;
  readonly #drift: LocalLevel;

  /**
   * @param pool shared by all of them.
   * @param at where it is kept, where somebody else has room for it: `CusumBank.doubles`, all 0.
   */
  constructor(windowMs: number, pool: PeakPool, at?: number) {
    this.at = at ?? memory.allocateFor(this, doubles);
    this.#peaks = new PeaksOverThreshold(windowMs, pool, this.at + evidenceLayout.peaks);
    this.#drift = new LocalLevel(count, this.at + evidenceLayout.drift);
    memory.doubles.set(this.#peaks.decay, this.at + evidenceLayout.keep);
    this.#all('dispersion').fill(evidenceConstants.priorDispersion);
    kernel.renew(this.at);
  }

  static readonly doubles = doubles;

  /**
   * Adds a window, the last one that counts have; which fault there is most evidence for, of two that say the same that
   * of more requests. What was found of it is put to what the window says.
   *
   * What each window needs is done by places: to look at an object first would be a wait for memory more.
   *
   * @param at where evidence is kept; then the weights by which the window was weighed, and the `TailCounts`.
   */
  static find(
    at: number,
    weights: number,
    counts: number,
    options: Pick<DetectOptions, 'quantiles' | 'window'>,
    startMs: number,
    requests: number,
    said: WindowScores,
  ): number {
    const { quantiles, window } = options;
    return kernel.find(at, weights, counts, quantiles.length, window, startMs, requests, said.at);
  }

  /** The largest dispersion. */
  static mostDispersion(at: number): number {
    return memory.doubles[at + evidenceLayout.mostDispersion] as number;
  }

  /** Keeps a window at a place of those that wait, to be learnt when its time has come. */
  static await(
    at: number,
    place: number,
    score: number,
    requests: number,
    said: WindowScores,
  ): void {
    kernel.keep(at + waitingPlace(place), score, requests, said.at);
  }

  /**
   * Learns the window at a place, which belongs to no anomaly. One of no requests it has not judged.
   *
   * @param evidence what is kept there; it is looked at only where there is more to do.
   * @param variances a place: of a baseline request's score, by fault.
   */
  static learn(at: number, evidence: CusumBank, place: number, variances: number): void {
    const due = kernel.learn(at, at + waitingPlace(place));
    if (due !== 0) evidence.#finish(due, place, variances);
  }

  sum(fault: number): number {
    return this.#of(fault, evidenceLayout.sum);
  }

  /** Start of the window with which its evidence began. */
  startMs(fault: number): number {
    return this.#of(fault, evidenceLayout.start);
  }

  /** What the last window added. */
  last(fault: number): number {
    return this.#of(fault, evidenceLayout.last);
  }

  /** What remains without the clearest window. */
  rest(fault: number): number {
    return this.sum(fault) - this.#of(fault, evidenceLayout.clearest);
  }

  dispersion(fault: number): number {
    return this.#of(fault, evidenceLayout.dispersion);
  }

  /** What requests have said for each fault, before that is divided by anything. */
  get kind(): Float32Array {
    const kind = new Float32Array(count);
    for (let fault = 0; fault < count; fault++) {
      kind[fault] = this.sum(fault) * this.varianceInflation(fault);
    }
    return kind;
  }

  /** What windows say together of the fault that they are the clearest of, and what that was divided by. */
  clearestOf({ sums }: WindowScores): {
    readonly evidence: number;
    readonly varianceInflation: number;
  } {
    let [evidence, varianceInflation] = [Number.NEGATIVE_INFINITY, 1];
    for (let fault = 0; fault < count; fault++) {
      const by = this.varianceInflation(fault);
      const said = (sums[fault] as number) / by;
      if (said > evidence) [evidence, varianceInflation] = [said, by];
    }
    return { evidence, varianceInflation };
  }

  /** What its evidence is divided by: the dispersion, and how much its level varies. */
  varianceInflation(fault: number): number {
    return this.#of(fault, evidenceLayout.varianceInflation);
  }

  /** What the score of a fault must be after a window, by the past: `PeaksOverThreshold.level`. */
  level(fault: number, windowStartMs: number, perWeek: number, baselineMs: number): number {
    const ageMs = windowStartMs - this.startMs(fault);
    const {
      nonStationarity: wandering,
      levelVariation: moving,
      predictability: foreseen,
    } = this.#drift;
    const ofBaseline = ageMs / baselineMs;
    return this.#peaks.level(perWeek, {
      nonStationarity: wandering,
      levelVariation: moving,
      predictability: foreseen,
      ageMs,
      ofBaseline,
    });
  }

  /** Takes over how restless another one is, and how far it goes. */
  inherit(other: CusumBank): void {
    this.#peaks.inherit(other.#peaks);
    this.#drift.inherit(other.#drift);
    const { doubles } = memory;
    doubles[this.at + learnt] = doubles[other.at + learnt] as number;
    this.#all('dispersion').set(other.#all('dispersion'));
    kernel.renew(this.at);
  }

  /** Takes the window at a place, of an anomaly that is open: `PeaksOverThreshold.follow`. */
  observePeak(place: number): void {
    this.#peaks.observePeak(this.#waitingScore(place));
  }

  /** The anomaly is over by itself: `PeaksOverThreshold.endEmitted`. */
  endEmitted(perWeek: number): void {
    this.#peaks.endEmitted(perWeek);
  }

  forgetPeak(): void {
    this.#peaks.forgetPeak();
  }

  /** Forgets the predicted level, after the baseline has changed. */
  forgetDrift(): void {
    this.#drift.forget();
  }

  /** Forgets the evidence, not the past. */
  forget(): void {
    const all = memory.doubles;
    const from = this.at + evidenceLayout.sum;
    for (let t = 0; t < count; t++) all[from + t] = 0;
  }

  serialize(state: StateArchive): void {
    state.section('fault evidence', 2, () => {
      this.#peaks.serialize(state);
      this.#drift.serialize(state);
      this.#serializeFaults(state);
      const { doubles } = memory;
      const waiting = this.at + waitingPlace(0);
      state.fill(doubles.subarray(waiting, this.at + waitingPlace(waitingWindows)));
      doubles[this.at + learnt] = state.number(doubles[this.at + learnt] as number);
    });
    kernel.renew(this.at);
  }

  /** Does what the kernel has left of learning a window. */
  #finish(due: number, place: number, variances: number): void {
    if ((due & dueAfterLearning.peaks) !== 0) this.#peaks.learn(this.#waitingScore(place));
    if ((due & dueAfterLearning.drift) === 0) return;
    this.#drift.update((t) => (memory.doubles[variances + t] as number) * this.dispersion(t));
    kernel.renew(this.at);
  }

  /** By faults: it is kept by fields. */
  #serializeFaults(state: StateArchive): void {
    const byFault = new Float64Array(count * perFault);
    for (const [i, field] of savedFields.entries()) {
      this.#all(field).forEach((value, t) => {
        byFault[t * perFault + i] = value;
      });
    }
    state.fill(byFault);
    for (const [i, field] of savedFields.entries()) {
      const values = this.#all(field);
      for (let t = 0; t < count; t++) values[t] = byFault[t * perFault + i] as number;
    }
  }

  #waitingScore(place: number): number {
    return memory.doubles[this.at + waitingPlace(place) + waitingLayout.score] as number;
  }

  #of(fault: number, field: number): number {
    return memory.doubles[this.at + field + fault] as number;
  }

  /** A view of a field of all faults. */
  #all(field: (typeof savedFields)[number]): Float64Array {
    const at = this.at + evidenceLayout[field];
    return memory.doubles.subarray(at, at + count);
  }
}

/** Where a window waits, from where evidence lies on. */
function waitingPlace(place: number): number {
  return waitingFrom + place * waitingLayout.end;
}
