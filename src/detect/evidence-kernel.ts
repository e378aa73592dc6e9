import { invariant } from '../base/invariant.ts';
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

/** Faults of the kernel. */
const kernelFaults = 16;
/** Room for a window of so many centroids at first: three doubles each, and two of scratch. */
const firstCentroids = 512;
const doublesPerCentroid = 3;
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
] as const satisfies readonly (keyof typeof evidenceConstants)[];

interface Exports {
  configure(constants: number, scratch: number): void;
  take(at: number, size: number): void;
  count(thresholds: number, quantiles: number, requests: number, before: number, at: number): void;
  weigh(weights: number, said: number, requests: number): void;
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
  readonly #exports: Exports;
  readonly #constants: Room;
  readonly #centroids: Room;
  readonly #scratch: Room;
  #given: TDigest | undefined;

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
    this.#exports = new WebAssembly.Instance(module, { env: { memory } })
      .exports as unknown as Exports;
    const values = constantNames.map((name) => evidenceConstants[name]);
    this.#constants = this.#memory.take(this, values.length);
    this.#memory.doubles.set(values, this.#constants.at);
    this.#centroids = this.#memory.take(this, firstCentroids * doublesPerCentroid);
    this.#scratch = this.#memory.take(this, firstCentroids * doublesPerBin);
    this.#configure();
  }

  /** Takes a window's digest, which is looked at from then on. */
  give(digest: TDigest): void {
    if (digest === this.#given) return;
    const { size, centroids } = digest;
    if (doublesPerCentroid * size > this.#centroids.doubles) this.#makeRoomFor(size);
    const { at } = this.#centroids;
    this.#memory.doubles.set(centroids, at);
    this.#exports.take(bytesOf(at), size);
    this.#given = digest;
  }

  /**
   * Adds to the sums at `before` what the digest that was given has above the thresholds of so many
   * quantiles: to where they are at `to`.
   */
  count(thresholds: number, quantiles: number, requests: number, before: number, to: number): void {
    const [from, into] = [bytesOf(before), bytesOf(to)];
    this.#exports.count(bytesOf(thresholds), quantiles, requests, from, into);
  }

  /** Adds up what the digest that was given says. */
  weigh(weights: number, said: number, requests: number): void {
    this.#exports.weigh(bytesOf(weights), bytesOf(said), requests);
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

  #makeRoomFor(size: number): void {
    this.#memory.enlarge(this.#centroids, size * doublesPerCentroid);
    this.#memory.enlarge(this.#scratch, size * doublesPerBin);
    this.#configure();
  }

  #configure(): void {
    this.#exports.configure(bytesOf(this.#constants.at), bytesOf(this.#scratch.at));
  }
}

/** The address of a double. Addresses from 2 GiB on are negative here, as 32-bit integers are. */
function bytesOf(at: number): number {
  return at << 3;
}
