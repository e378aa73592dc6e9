import { invariant } from '../../../base/invariant.ts';
import { durationKernel } from '../../../baseline/durations/duration-kernel.ts';
import { type Allocation, Arena, addressOf, floatAddressOf } from '../../../memory/arena.ts';
import type { TDigest } from '../../../sketch/t-digest.ts';
import { evidenceConstants } from './evidence-constants.ts';
import { binsBefore, evidenceRegions } from './evidence-layout.ts';
import { faultTemplates, slowPathFault } from './fault-templates.ts';
import { weightsKernelWasm } from './weights-kernel-wasm.ts';

/** Scratch in doubles: at first, and of a window by its centroids. */
const initialScratch = 1_024;
const doublesPerCentroid = 2;
const margin = 8;

interface Exports {
  configure(constants: number, templates: number, sums: number): void;
  weigh(centroids: number, size: number, weights: number, scores: number, scratch: number): void;
  weighBins(weights: number, density: number, parts: number, ofLast: number): void;
  within(weights: number, scores: number, into: number): void;
  logOf(x: number): number;
}

/** WebAssembly that weighs durations, all faults side by side. Parts of the arena are given by their offset. */
class WeightsKernel {
  readonly #memory = Arena.shared();
  readonly #exports: Exports;
  #scratch: Allocation;

  constructor() {
    const imports = { 'weights-kernel': { log: Math.log } };
    this.#exports = this.#memory.kernel(weightsKernelWasm, imports);
    const { leastMs, mostRatio, mostEvidence, unit } = evidenceConstants;
    const constants = this.#memory.store([leastMs, mostRatio, mostEvidence, unit]);
    const templates = this.#memory.store(templatesOf());
    const { offset: sums } = this.#memory.allocate(
      evidenceRegions * (4 * faultTemplates.length + 2),
    );
    this.#exports.configure(addressOf(constants), addressOf(templates), addressOf(sums));
    this.#scratch = this.#memory.allocate(initialScratch);
  }

  /** Writes the scores of a window. */
  weigh(digest: TDigest, weights: number, scores: number): void {
    const { size } = digest;
    const scratch = addressOf(this.scratch((size + margin) * doublesPerCentroid));
    const centroids = durationKernel.copyIn(digest);
    this.#exports.weigh(centroids, size, addressOf(weights), addressOf(scores), scratch);
  }

  /**
   * Computes the weights of every bin of a baseline. The other arguments are offsets of floats, a float a bin.
   *
   * @param density of the bins, after `binsBefore` zeros.
   * @param parts observed part of each bin.
   * @param ofLast density under the last fault.
   */
  weighBins(weights: number, density: number, parts: number, ofLast: number): void {
    this.#exports.weighBins(
      addressOf(weights),
      floatAddressOf(density),
      floatAddressOf(parts),
      floatAddressOf(ofLast),
    );
  }

  /** As `EvidenceWeights.within`. */
  within(weights: number, scores: number, into: number): void {
    this.#exports.within(addressOf(weights), addressOf(scores), addressOf(into));
  }

  /** The kernel's `Math.log` of positive numbers that are not subnormal, in single precision. */
  log(x: number): number {
    return this.#exports.logOf(x);
  }

  /** Offset of this number of doubles, valid until the next call. */
  scratch(doubles: number): number {
    if (doubles > this.#scratch.doubles) {
      this.#memory.release(this.#scratch);
      this.#scratch = this.#memory.allocate(doubles);
    }
    return this.#scratch.offset;
  }
}

/** Instead of a shift, for a fault whose density is given. */
const noShift = -1;

/** Faults as the kernel reads them, field by field: shares, least ratios, and shifts in bins. */
function templatesOf(): number[] {
  const { mostRatio, binsPerOctave } = evidenceConstants;
  const shifts = faultTemplates.map(({ octaves }, i) =>
    i === slowPathFault ? noShift : Math.round(octaves * binsPerOctave),
  );
  const most = Math.max(...shifts);
  invariant(most <= binsBefore, `a fault moves durations by over ${binsBefore} bins`);
  const shares = faultTemplates.map(({ share }) => share);
  const leastRatios = shares.map((share) => Math.max(1 - share, 1 / mostRatio));
  return [shares, leastRatios, shifts].flat();
}

/** The kernel of this thread. */
export const weightsKernel = new WeightsKernel();
