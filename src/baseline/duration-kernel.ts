import { invariant } from '../base/invariant.ts';
import { highIndex } from '../sketch/high-word.ts';
import type { TDigest } from '../sketch/t-digest.ts';
import { durationKernelWasm } from './duration-kernel-wasm.ts';
import type { RangeSums } from './range-sums.ts';
import { type Room, StateMemory } from './state-memory.ts';

/** Room for so many centroids, or buckets, at first; what each takes in doubles, with what is made of it. */
const firstCentroids = 512;
const doublesEach = 4;

interface Exports {
  add(
    centroids: number,
    size: number,
    from: number,
    buckets: number,
    low: number,
    length: number,
    leastMs: number,
  ): number;
  join(buckets: number, length: number, to: number): void;
  centroids(buckets: number, length: number, means: number, weights: number): number;
  count(
    centroids: number,
    size: number,
    counts: number,
    quantiles: number,
    requests: number,
    startMs: number,
  ): void;
}

/** Centroids of many buckets: so many means, and as many weights. Views, until the kernel is called again. */
export interface Merged {
  readonly means: Float64Array;
  readonly weights: Float64Array;
  readonly size: number;
}

/**
 * The WebAssembly that adds digests to buckets, which are `RangeSums` of two columns, and buckets to each
 * other: one for all of a thread.
 */
export class DurationKernel {
  static #shared: DurationKernel | undefined;

  readonly #memory = StateMemory.shared();
  readonly #exports: Exports;
  #room: Room;
  #given: TDigest | undefined;

  /** The one of this thread. @throws where there is no WebAssembly, or numbers are big endian. */
  static shared(): DurationKernel {
    DurationKernel.#shared ??= new DurationKernel();
    return DurationKernel.#shared;
  }

  private constructor() {
    invariant(highIndex === 1, 'this machine is big endian, which tailmark does not run on');
    const module = new WebAssembly.Module(Buffer.from(durationKernelWasm, 'base64'));
    const { memory } = this.#memory;
    this.#exports = new WebAssembly.Instance(module, { env: { memory } })
      .exports as unknown as Exports;
    this.#room = this.#memory.take(firstCentroids * doublesEach);
  }

  /**
   * Copies a digest's centroids to where kernels look at them, unless they are there; the place. Behind them there
   * is room for as many doubles, for what is made of them.
   */
  give(digest: TDigest): number {
    if (digest === this.#given) return this.#room.at;
    this.#makeRoomFor(digest.size);
    this.#memory.doubles.set(digest.centroids, this.#room.at);
    this.#given = digest;
    return this.#room.at;
  }

  /** Adds a digest to buckets, which get room for it. */
  add(
    digest: TDigest,
    buckets: RangeSums,
    bucketOf: (ms: number) => number,
    leastMs: number,
  ): void {
    const { size } = digest;
    const from = this.give(digest) << 3;
    for (let done = 0; ; ) {
      const { at, low, range } = buckets;
      done = this.#exports.add(from, size, done, at << 3, low, range, leastMs);
      if (done === size) return;
      buckets.place(bucketOf(digest.centroids[done] as number));
    }
  }

  /** Adds a window to the counts of `TailCounts`, by its digest. */
  count(
    digest: TDigest,
    counts: number,
    quantiles: number,
    requests: number,
    startMs: number,
  ): void {
    const centroids = this.give(digest) << 3;
    this.#exports.count(centroids, digest.size, counts << 3, quantiles, requests, startMs);
  }

  /** What several sums of buckets add up to, in their order: a centroid a bucket. */
  merge(parts: readonly RangeSums[]): Merged {
    const used = parts.filter(({ range }) => range > 0);
    let low = Number.POSITIVE_INFINITY;
    let end = Number.NEGATIVE_INFINITY;
    for (const part of used) {
      low = Math.min(low, part.low);
      end = Math.max(end, part.low + part.range);
    }
    const length = used.length === 0 ? 0 : end - low;
    this.#given = undefined;
    this.#makeRoomFor(length);
    const { at } = this.#room;
    const { doubles } = this.#memory;
    doubles.fill(0, at, at + 2 * length);
    for (const part of used) {
      this.#exports.join(part.at << 3, part.range, (at + 2 * (part.low - low)) << 3);
    }
    const [means, weights] = [at + 2 * length, at + 3 * length];
    const size = this.#exports.centroids(at << 3, length, means << 3, weights << 3);
    return {
      means: doubles.subarray(means, means + size),
      weights: doubles.subarray(weights, weights + size),
      size,
    };
  }

  #makeRoomFor(size: number): void {
    if (size * doublesEach <= this.#room.doubles) return;
    this.#memory.release(this.#room);
    this.#room = this.#memory.take(size * doublesEach);
    this.#given = undefined;
  }
}
