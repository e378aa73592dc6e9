import { invariant } from '../../../base/invariant.ts';
import { Arena, addressOf } from '../../../memory/arena.ts';
import { evidenceConstants } from './evidence-constants.ts';
import { evidenceKernelWasm } from './evidence-kernel-wasm.ts';
import { kernelFaults } from './evidence-layout.ts';
import { faultTemplates } from './fault-templates.ts';

/** What the kernel leaves to others: the drift's block is full; a peak goes on. */
export const dueAfterLearning = { drift: 1, peaks: 2 } as const;

/** What it compares with, in its order. */
const constantNames = [
  'peakScore',
  'overShare',
  'leastFall',
  'overFall',
  'maxVarianceRatio',
  'medianOfChance',
  'calm',
  'blockWindows',
  'noiseOfBaseline',
  'dispersionWindows',
  'priorWindows',
  'surelyMoving',
] as const satisfies readonly (keyof typeof evidenceConstants)[];

interface Exports {
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

/**
 * The WebAssembly that adds up evidence, all faults side by side: one for all of a thread. What it works on
 * is in the arena, and places are those of its doubles.
 */
export class EvidenceKernel {
  static #shared: EvidenceKernel | undefined;

  readonly #exports: Exports;

  /** The one of this thread. */
  static shared(): EvidenceKernel {
    EvidenceKernel.#shared ??= new EvidenceKernel();
    return EvidenceKernel.#shared;
  }

  private constructor() {
    const faults = faultTemplates.length;
    invariant(faults === kernelFaults, `the evidence kernel is made for ${kernelFaults} faults`);
    const memory = Arena.shared();
    this.#exports = memory.kernel(evidenceKernelWasm);
    const constants = memory.store(constantNames.map((name) => evidenceConstants[name]));
    this.#exports.configure(addressOf(constants));
  }

  /** Keeps what a window says, to be learnt later. */
  keep(waiting: number, score: number, requests: number, scores: number): void {
    this.#exports.keep(addressOf(waiting), score, requests, addressOf(scores));
  }

  /**
   * Adds a window to evidence, and puts behind what it says what was found of the fault that there is most for: in
   * how many windows, how much evidence, and how much less what the baseline's own noise may have made of
   * it, over what variance inflation. Which fault that is.
   */
  find(
    evidence: number,
    weights: number,
    counts: number,
    quantiles: number,
    windowMs: number,
    startMs: number,
    requests: number,
    scores: number,
  ): number {
    return this.#exports.find(
      addressOf(evidence),
      addressOf(weights),
      addressOf(counts),
      quantiles,
      windowMs,
      startMs,
      requests,
      addressOf(scores),
    );
  }

  /** Learns what waits, unless it has no requests; what is left to do: the sum of some of `dueAfterLearning`. */
  learn(evidence: number, waiting: number): number {
    return this.#exports.learn(addressOf(evidence), addressOf(waiting));
  }

  /** Makes anew what follows of dispersions and of how much levels vary. */
  renew(evidence: number): void {
    this.#exports.renew(addressOf(evidence));
  }
}
