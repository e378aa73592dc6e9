import { invariant } from '../../../base/invariant.ts';
import { DurationKernel } from '../../../baseline/durations/duration-kernel.ts';
import { type Allocation, Arena, addressOf, floatAddressOf } from '../../../memory/arena.ts';
import type { TDigest } from '../../../sketch/t-digest.ts';
import { evidenceConstants } from './evidence-constants.ts';
import { binsBefore, evidenceRegions, kernelFaults } from './evidence-layout.ts';
import { faultTemplates, slowPathFault } from './fault-templates.ts';
import { weightsKernelWasm } from './weights-kernel-wasm.ts';

/** Scratch at first, in doubles; a window takes two a centroid, and of some more. */
const firstScratch = 1_024;
const doublesPerCentroid = 2;
const margin = 8;

interface Exports {
  configure(constants: number, templates: number, sums: number): void;
  weigh(centroids: number, size: number, weights: number, scores: number, scratch: number): void;
  weighBins(weights: number, density: number, parts: number, ofLast: number): void;
  within(weights: number, scores: number, into: number): void;
  logOf(x: number): number;
}

/**
 * The WebAssembly that weighs durations, all faults side by side: one for all of a thread. What it works on is
 * in the arena, and places are those of its doubles.
 */
export class WeightsKernel {
  static #shared: WeightsKernel | undefined;

  readonly #memory = Arena.shared();
  readonly #durations = DurationKernel.shared();
  readonly #exports: Exports;
  #scratch: Allocation;

  /** The one of this thread. */
  static shared(): WeightsKernel {
    WeightsKernel.#shared ??= new WeightsKernel();
    return WeightsKernel.#shared;
  }

  private constructor() {
    const faults = faultTemplates.length;
    invariant(faults === kernelFaults, `the weights kernel is made for ${kernelFaults} faults`);
    const imports = { 'weights-kernel': { log: Math.log } };
    this.#exports = this.#memory.kernel(weightsKernelWasm, imports);
    const { leastMs, mostRatio, mostEvidence, unit } = evidenceConstants;
    const constants = this.#memory.store([leastMs, mostRatio, mostEvidence, unit]);
    const templates = this.#memory.store(templatesOf());
    const { offset: sums } = this.#memory.allocate(evidenceRegions * (4 * faults + 2));
    this.#exports.configure(addressOf(constants), addressOf(templates), addressOf(sums));
    this.#scratch = this.#memory.allocate(firstScratch);
  }

  /** Adds up what a window's digest says. */
  weigh(digest: TDigest, weights: number, scores: number): void {
    const { size } = digest;
    const scratch = addressOf(this.scratch((size + margin) * doublesPerCentroid));
    const centroids = this.#durations.copyIn(digest);
    this.#exports.weigh(centroids, size, addressOf(weights), addressOf(scores), scratch);
  }

  /**
   * Weighs every bin of a baseline for each fault.
   *
   * @param density of its bins, with `binsBefore` before them that are 0: a place of singles.
   * @param parts what part of it was seen in each, likewise.
   * @param ofLast density under the last fault, likewise.
   */
  weighBins(weights: number, density: number, parts: number, ofLast: number): void {
    this.#exports.weighBins(
      addressOf(weights),
      floatAddressOf(density),
      floatAddressOf(parts),
      floatAddressOf(ofLast),
    );
  }

  /** What of that which a window says is left when it is given how many requests lie in each region. */
  within(weights: number, scores: number, into: number): void {
    this.#exports.within(addressOf(weights), addressOf(scores), addressOf(into));
  }

  /** `Math.log` of what is positive and not subnormal, as the kernel has it: of single precision. */
  log(x: number): number {
    return this.#exports.logOf(x);
  }

  /** A place for so many doubles, until the next call. */
  scratch(doubles: number): number {
    if (doubles > this.#scratch.doubles) {
      this.#memory.release(this.#scratch);
      this.#scratch = this.#memory.allocate(doubles);
    }
    return this.#scratch.offset;
  }
}

/** Instead of bins by which durations are moved: the density is given. */
const noShift = -1;

/** What the kernel knows of the faults, field by field. */
function templatesOf(): number[] {
  const { mostRatio, binsPerOctave } = evidenceConstants;
  const shifts = faultTemplates.map(({ octaves }, i) =>
    i === slowPathFault ? noShift : Math.round(octaves * binsPerOctave),
  );
  invariant(
    Math.max(...shifts) <= binsBefore,
    `a fault moves durations by over ${binsBefore} bins`,
  );
  const shares = faultTemplates.map(({ share }) => share);
  const leastRatios = shares.map((share) => Math.max(1 - share, 1 / mostRatio));
  return [shares, leastRatios, shifts].flat();
}
