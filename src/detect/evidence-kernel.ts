import { invariant } from '../base/invariant.ts';
import { DurationKernel } from '../baseline/duration-kernel.ts';
import { type Room, StateMemory } from '../baseline/state-memory.ts';
import { highIndex } from '../sketch/high-word.ts';
import type { TDigest } from '../sketch/t-digest.ts';
import { evidenceConstants } from './evidence-constants.ts';
import { evidenceKernelWasm } from './evidence-kernel-wasm.ts';
import { faultTemplates } from './fault-templates.ts';

const faults = faultTemplates.length;

/**
 * Where things lie in what is handed out to one test, in doubles; `FaultEvidence`, `EvidenceWeights` and
 * `TailCounts` say what they are. kernel/evidence-kernel.ts has the same offsets, in bytes: fields of
 * faults are side by side, as many as there are faults.
 */
export const evidenceLayout = {
  /** The largest dispersion; peaks. */
  mostDispersion: 0,
  peaks: 4,
  sum: 16,
  start: 16 + faults,
  highest: 16 + 2 * faults,
  clearest: 16 + 3 * faults,
  last: 16 + 4 * faults,
  restlessness: 16 + 5 * faults,
  dispersion: 16 + 6 * faults,
  drift: 16 + 7 * faults,
} as const;
export const saidLayout = {
  sums: 0,
  excess: faults,
  variances: 2 * faults,
  end: 3 * faults,
} as const;
/** Of a window that waits to be learnt. */
export const waitingLayout = {
  score: 0,
  requests: 1,
  excess: 2,
  squares: 2 + faults,
  end: 2 + 2 * faults,
} as const;
/** What EvidenceWeights keeps beside its table; the first ones are 32-bit integers, by their own places. */
export const weightsLayout = {
  ints: { low: 0, bins: 1, table: 2, firstOf: 4 },
  inRegion: 4,
  means: 8,
  variances: 8 + faults,
  variancesWithin: 8 + 2 * faults,
  regionWeights: 8 + 3 * faults,
} as const;
export const evidenceRegions = 3;
/** Bins before the first one of a baseline that are 0. */
export const binsBefore = 64;

/** Faults of the kernel. */
const kernelFaults = 16;
/** Scratch at first, in doubles; a window takes two a bin. */
const firstScratch = 1_024;
const doublesPerBin = 2;

/** What it compares with, in its order. */
const constantNames = [
  'peakScore',
  'overShare',
  'leastFall',
  'overFall',
  'mostOfUsual',
  'medianOfChance',
  'calm',
  'blockWindows',
  'leastMs',
  'mostRatio',
  'mostEvidence',
] as const satisfies readonly (keyof typeof evidenceConstants)[];

interface Exports {
  configure(constants: number, templates: number): void;
  weigh(
    centroids: number,
    size: number,
    weights: number,
    said: number,
    requests: number,
    scratch: number,
  ): void;
  weighBins(weights: number, density: number, parts: number): void;
  within(weights: number, said: number, into: number): void;
  add(evidence: number, startMs: number, requests: number, said: number): number;
  keep(waiting: number, score: number, requests: number, said: number): void;
  learn(evidence: number, waiting: number, weight: number): number;
  renew(evidence: number): void;
}

/**
 * The WebAssembly that adds up evidence, all faults side by side: one for all of a thread. What it works on
 * is in `StateMemory`, and places are those of its doubles.
 */
export class EvidenceKernel {
  static #shared: EvidenceKernel | undefined;

  readonly #memory = StateMemory.shared();
  readonly #durations = DurationKernel.shared();
  readonly #exports: Exports;
  #scratch: Room;

  /** The one of this thread. @throws where there is no WebAssembly, or numbers are big endian. */
  static shared(): EvidenceKernel {
    EvidenceKernel.#shared ??= new EvidenceKernel();
    return EvidenceKernel.#shared;
  }

  private constructor() {
    invariant(highIndex === 1, 'this machine is big endian, which tailmark does not run on');
    invariant(faults === kernelFaults, `the evidence kernel is made for ${kernelFaults} faults`);
    const module = new WebAssembly.Module(Buffer.from(evidenceKernelWasm, 'base64'));
    const { memory } = this.#memory;
    const imports = { env: { memory }, 'evidence-kernel': { log: Math.log } };
    this.#exports = new WebAssembly.Instance(module, imports).exports as unknown as Exports;
    const constants = this.#keep(constantNames.map((name) => evidenceConstants[name]));
    this.#exports.configure(bytesOf(constants), bytesOf(this.#keep(templatesOf())));
    this.#scratch = this.#memory.take(firstScratch);
  }

  /** Adds up what a window's digest says. */
  weigh(digest: TDigest, weights: number, said: number): void {
    const { size, count } = digest;
    const scratch = bytesOf(this.scratch(size * doublesPerBin));
    const centroids = bytesOf(this.#durations.give(digest));
    this.#exports.weigh(centroids, size, bytesOf(weights), bytesOf(said), count, scratch);
  }

  /**
   * Weighs every bin of a baseline for each fault.
   *
   * @param density of its bins, with `binsBefore` before them that are 0.
   * @param parts what part of it was seen in each.
   */
  weighBins(weights: number, density: number, parts: number): void {
    this.#exports.weighBins(bytesOf(weights), bytesOf(density), bytesOf(parts));
  }

  /** A place for so many doubles, until the next call. */
  scratch(doubles: number): number {
    if (doubles > this.#scratch.doubles) {
      this.#memory.release(this.#scratch);
      this.#scratch = this.#memory.take(doubles);
    }
    return this.#scratch.at;
  }

  /** What of that is left when it is given how many requests lie in each region. */
  within(weights: number, said: number, into: number): void {
    this.#exports.within(bytesOf(weights), bytesOf(said), bytesOf(into));
  }

  /** Adds a window to evidence; for which fault there is most. */
  add(evidence: number, startMs: number, requests: number, said: number): number {
    return this.#exports.add(bytesOf(evidence), startMs, requests, bytesOf(said));
  }

  /** Keeps what a window says, to be learnt later. */
  keep(waiting: number, score: number, requests: number, said: number): void {
    this.#exports.keep(bytesOf(waiting), score, requests, bytesOf(said));
  }

  /** Learns what waits; whether the drift is to be followed. */
  learn(evidence: number, waiting: number, weight: number): boolean {
    return this.#exports.learn(bytesOf(evidence), bytesOf(waiting), weight) !== 0;
  }

  /** Makes anew what follows of dispersions and of how much levels vary. */
  renew(evidence: number): void {
    this.#exports.renew(bytesOf(evidence));
  }

  #keep(values: readonly number[]): number {
    const { at } = this.#memory.take(values.length);
    this.#memory.doubles.set(values, at);
    return at;
  }
}

/** What the kernel knows of the faults, field by field. */
function templatesOf(): number[] {
  const { mostRatio, binsPerOctave } = evidenceConstants;
  const shifts = faultTemplates.map(({ octaves }) => Math.round(octaves * binsPerOctave));
  invariant(
    Math.max(...shifts) <= binsBefore,
    `no fault moves anything by over ${binsBefore} bins`,
  );
  const leastRatios = faultTemplates.map(({ share }) => Math.max(1 - share, 1 / mostRatio));
  return [
    faultTemplates.map(({ share }) => share),
    leastRatios,
    leastRatios.map(Math.log),
    shifts,
  ].flat();
}

/** The address of a double. Addresses from 2 GiB on are negative here, as 32-bit integers are. */
function bytesOf(at: number): number {
  return at << 3;
}
