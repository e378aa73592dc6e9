import { Arena, addressOf } from '../../../memory/arena.ts';
import type { StateArchive } from '../../../snapshot/archive.ts';
import { type DetectOptions, quarantineWindows } from '../../options/detect-options.ts';
import { LocalLevel } from '../../score/local-level.ts';
import type { PeakPool } from '../../score/peak-pool.ts';
import { PeaksOverThreshold } from '../../score/peaks-over-threshold.ts';
import { evidenceConstants } from './evidence-constants.ts';
import { evidenceKernelWasm } from './evidence-kernel-wasm.ts';
import { evidenceLayout, waitingLayout } from './evidence-layout.ts';
import { faultTemplates } from './fault-templates.ts';
import type { WindowScores } from './window-scores.ts';

/** WebAssembly that adds up evidence, all faults side by side. Parts of the arena are given by their address. */
interface Kernel {
  configure(constants: number): void;
  find(
    evidence: number,
    weights: number,
    counts: number,
    quantiles: number,
    windowMs: number,
    startMs: number,
    requests: number,
    scores: number,
  ): number;
  keep(waiting: number, score: number, requests: number, scores: number): void;
  learn(evidence: number, waiting: number): number;
  renew(evidence: number): void;
}

/** Constants in the order of the kernel. */
const kernelConstants = [
  evidenceConstants.peakScore,
  evidenceConstants.overShare,
  evidenceConstants.leastFall,
  evidenceConstants.overFall,
  evidenceConstants.maxVarianceRatio,
  evidenceConstants.medianOfChance,
  evidenceConstants.stationaryRatio,
  evidenceConstants.blockWindows,
  evidenceConstants.noiseOfBaseline,
  evidenceConstants.dispersionWindows,
  evidenceConstants.priorWindows,
  evidenceConstants.variationSlope,
];
/** Bits of the kernel's `learn`: the block of the local level is full; a peak is in progress. */
const dueAfterLearning = { localLevel: 1, peaks: 2 } as const;

const memory = Arena.shared();
const kernel = memory.kernel<Kernel>(evidenceKernelWasm);
kernel.configure(addressOf(memory.store(kernelConstants)));

const count = faultTemplates.length;

/** Largest number of windows that wait to be learnt. */
export const waitingWindows = quarantineWindows + 2;
/** Saved fields of each fault: eight doubles, of which the last two are 0. */
const savedFields = ['sum', 'start', 'highest', 'clearest', 'last', 'dispersion'] as const;
const savedPerFault = 8;
const { learnt } = evidenceLayout;
/** Offset of the waiting windows, which come last. */
const waitingFrom = evidenceLayout.localLevel + LocalLevel.doubles(count);

/**
 * Evidence for each fault, summed over windows while it is above 0 (CUSUM; Page, "Continuous inspection
 * schemes", 1954). The predicted level (`LocalLevel`) is subtracted. The rest is divided by the dispersion of
 * the series: by how much windows vary more than by chance. `PeaksOverThreshold` learns how high the evidence
 * rises while nothing is wrong.
 *
 * Static methods take offsets: reading an object first would be another cache miss a window.
 *
 * Memory: 4 KB, contiguous. Cost: a tenth of a microsecond a window.
 */
export class CusumBank {
  /** Size in doubles. */
  static readonly doubles = waitingFrom + waitingWindows * waitingLayout.end;

  /** Offset in the arena. */
  readonly at: number;
  readonly peaks: PeaksOverThreshold;
  readonly localLevel: LocalLevel;

  /**
   * @param pool shared by all tests.
   * @param at offset in the arena, if the caller has allocated it: `CusumBank.doubles`, all 0.
   */
  constructor(windowMs: number, pool: PeakPool, at?: number) {
    this.at = at ?? memory.allocateFor(this, CusumBank.doubles);
    this.peaks = new PeaksOverThreshold(windowMs, pool, this.at + evidenceLayout.peaks);
    this.localLevel = new LocalLevel(count, this.at + evidenceLayout.localLevel);
    memory.doubles.set(this.peaks.decay, this.at + evidenceLayout.keep);
    this.#all('dispersion').fill(evidenceConstants.priorDispersion);
    kernel.renew(addressOf(this.at));
  }

  /**
   * Adds the window that was last added to the counts, and writes the evidence found to its scores.
   *
   * @param weights offset of the weights by which the window was weighed.
   * @param counts offset of the `TailCounts`.
   * @returns the fault with most evidence; of equal ones, that of more requests.
   */
  static add(
    at: number,
    weights: number,
    counts: number,
    { quantiles, window }: Pick<DetectOptions, 'quantiles' | 'window'>,
    startMs: number,
    requests: number,
    scores: WindowScores,
  ): number {
    return kernel.find(
      addressOf(at),
      addressOf(weights),
      addressOf(counts),
      quantiles.length,
      window,
      startMs,
      requests,
      addressOf(scores.at),
    );
  }

  /** The largest dispersion. */
  static mostDispersion(at: number): number {
    return memory.doubles[at + evidenceLayout.mostDispersion] as number;
  }

  /** Stores a window in a slot, to be learnt later. */
  static enqueue(
    at: number,
    slot: number,
    score: number,
    requests: number,
    scores: WindowScores,
  ): void {
    kernel.keep(addressOf(at + waitingAt(slot)), score, requests, addressOf(scores.at));
  }

  /**
   * Learns the window in a slot, which belongs to no anomaly. One without requests is ignored.
   *
   * @param evidence the object at this offset, read only at the end of a block or during a peak.
   * @param variances offset of the variances of a baseline request's score, by fault.
   */
  static learn(at: number, evidence: CusumBank, slot: number, variances: number): void {
    const due = kernel.learn(addressOf(at), addressOf(at + waitingAt(slot)));
    if ((due & dueAfterLearning.peaks) !== 0) evidence.peaks.learn(evidence.#waitingScore(slot));
    if ((due & dueAfterLearning.localLevel) === 0) return;
    evidence.localLevel.update(
      (t) => (memory.doubles[variances + t] as number) * evidence.dispersion(t),
    );
    kernel.renew(addressOf(at));
  }

  sum(fault: number): number {
    return this.#of(fault, evidenceLayout.sum);
  }

  /** Start of the window in which the evidence began. */
  startMs(fault: number): number {
    return this.#of(fault, evidenceLayout.start);
  }

  /** Evidence added by the last window. */
  last(fault: number): number {
    return this.#of(fault, evidenceLayout.last);
  }

  /** Evidence without its clearest window. */
  rest(fault: number): number {
    return this.sum(fault) - this.#of(fault, evidenceLayout.clearest);
  }

  dispersion(fault: number): number {
    return this.#of(fault, evidenceLayout.dispersion);
  }

  /** Evidence for each fault, not divided. */
  get kind(): Float32Array {
    const kind = new Float32Array(count);
    for (let fault = 0; fault < count; fault++) {
      kind[fault] = this.sum(fault) * this.varianceInflation(fault);
    }
    return kind;
  }

  /** Evidence of a window for its clearest fault, and the divisor of that. */
  clearestOf({ sums }: WindowScores) {
    let clearest = { evidence: Number.NEGATIVE_INFINITY, varianceInflation: 1 };
    for (const [fault, sum] of sums.entries()) {
      const varianceInflation = this.varianceInflation(fault);
      const evidence = sum / varianceInflation;
      if (evidence > clearest.evidence) clearest = { evidence, varianceInflation };
    }
    return clearest;
  }

  /** Divisor of a fault's evidence: the dispersion, times the spread of its level. */
  varianceInflation(fault: number): number {
    return this.#of(fault, evidenceLayout.varianceInflation);
  }

  /** Significance threshold of a fault's score, by the past: `PeaksOverThreshold.level`. */
  level(fault: number, windowStartMs: number, perWeek: number, baselineMs: number): number {
    const ageMs = windowStartMs - this.startMs(fault);
    const { nonStationarity, levelVariation, predictability } = this.localLevel;
    const ofBaseline = ageMs / baselineMs;
    const growth = { nonStationarity, levelVariation, predictability, ageMs, ofBaseline };
    return this.peaks.level(perWeek, growth);
  }

  /** Copies the dispersions, the variances of levels, and the peaks. */
  inherit(other: CusumBank): void {
    this.peaks.inherit(other.peaks);
    this.localLevel.inherit(other.localLevel);
    const { doubles } = memory;
    doubles[this.at + learnt] = doubles[other.at + learnt] as number;
    this.#all('dispersion').set(other.#all('dispersion'));
    kernel.renew(addressOf(this.at));
  }

  /** As `PeaksOverThreshold.observePeak`, of the window in a slot. */
  observePeak(slot: number): void {
    this.peaks.observePeak(this.#waitingScore(slot));
  }

  /** Resets the evidence, but not what was learnt. */
  forget(): void {
    const from = this.at + evidenceLayout.sum;
    memory.doubles.fill(0, from, from + count);
  }

  serialize(state: StateArchive): void {
    state.section('fault evidence', 2, () => {
      this.peaks.serialize(state);
      this.localLevel.serialize(state);
      this.#serializeFaults(state);
      const { doubles } = memory;
      state.fill(doubles.subarray(this.at + waitingFrom, this.at + CusumBank.doubles));
      doubles[this.at + learnt] = state.number(doubles[this.at + learnt] as number);
    });
    kernel.renew(addressOf(this.at));
  }

  /** Saves fault by fault; in memory a field of all faults is contiguous. */
  #serializeFaults(state: StateArchive): void {
    const saved = new Float64Array(count * savedPerFault);
    const fields = savedFields.map((field) => this.#all(field));
    for (const [i, values] of fields.entries()) {
      for (const [t, value] of values.entries()) saved[t * savedPerFault + i] = value;
    }
    state.fill(saved);
    for (const [i, values] of fields.entries()) {
      for (let t = 0; t < count; t++) values[t] = saved[t * savedPerFault + i] as number;
    }
  }

  #waitingScore(slot: number): number {
    return memory.doubles[this.at + waitingAt(slot) + waitingLayout.score] as number;
  }

  #of(fault: number, field: number): number {
    return memory.doubles[this.at + field + fault] as number;
  }

  /** View of a field of all faults, valid until the memory grows. */
  #all(field: (typeof savedFields)[number]): Float64Array {
    const at = this.at + evidenceLayout[field];
    return memory.doubles.subarray(at, at + count);
  }
}

/** Offset of a waiting window from that of the evidence. */
function waitingAt(slot: number): number {
  return waitingFrom + slot * waitingLayout.end;
}
