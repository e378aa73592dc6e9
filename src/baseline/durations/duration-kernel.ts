import { invariant } from '../../base/invariant.ts';
import { type Allocation, Arena, addressOf, floatAddressOf } from '../../memory/arena.ts';
import type { RangeSums } from '../../memory/range-sums.ts';
import { highIndex } from '../../sketch/high-word.ts';
import type { TDigest } from '../../sketch/t-digest.ts';
import { durationKernelWasm } from './duration-kernel-wasm.ts';

/** Room at first, in doubles. */
const firstRoom = 2_048;
/** Kernels may look at a few floats behind what they are given. */
const margin = 2;
/** What a bucket takes with what is made of it. */
const doublesPerBucket = 4;

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
    upTo: number,
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

  readonly #memory = Arena.shared();
  readonly #exports: Exports;
  /** Scratch of one call. */
  #scratch: Allocation;
  /** What was given last: all digests of this array. */
  #given: TDigest['centroids'] | undefined;
  #givenRoom: Allocation;

  /** The one of this thread. @throws where there is no WebAssembly, or numbers are big endian. */
  static shared(): DurationKernel {
    DurationKernel.#shared ??= new DurationKernel();
    return DurationKernel.#shared;
  }

  private constructor() {
    invariant(highIndex === 1, 'this machine is big endian, which tailmark does not run on');
    this.#exports = this.#memory.kernel(durationKernelWasm);
    this.#scratch = this.#memory.allocate(firstRoom);
    this.#givenRoom = this.#memory.allocate(firstRoom);
  }

  /**
   * The address of a digest's centroids where kernels look at them, as floats. All that lie in one array with
   * them are copied there at once, unless they are there.
   */
  give({ centroids, from }: TDigest): number {
    if (centroids !== this.#given) {
      this.#givenRoom = this.#roomFor(centroids.length / 2 + margin, this.#givenRoom);
      this.#memory.floats.set(centroids, 2 * this.#givenRoom.offset);
      this.#given = centroids;
    }
    return addressOf(this.#givenRoom.offset) + floatAddressOf(from);
  }

  /** Adds a digest to buckets, which get room for it. */
  add(
    digest: TDigest,
    buckets: RangeSums,
    bucketOf: (ms: number) => number,
    leastMs: number,
  ): void {
    const { size } = digest;
    const centroids = this.give(digest);
    for (let done = 0; ; ) {
      const { offset: at, low, range } = buckets;
      done = this.#exports.add(centroids, size, done, addressOf(at), low, range, leastMs);
      if (done === size) return;
      // As the kernel has it: doubles may round across a bucket's bound.
      buckets.offsetOf(bucketOf(Math.fround(digest.centroids[digest.from + done] as number)));
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
    const { size } = digest;
    const centroids = this.give(digest);
    this.#scratch = this.#roomFor(size / 2 + margin, this.#scratch);
    const upTo = addressOf(this.#scratch.offset);
    this.#exports.count(centroids, size, upTo, addressOf(counts), quantiles, requests, startMs);
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
    this.#scratch = this.#roomFor(length * doublesPerBucket, this.#scratch);
    const { offset: at } = this.#scratch;
    const { doubles } = this.#memory;
    doubles.fill(0, at, at + 2 * length);
    for (const part of used) {
      this.#exports.join(addressOf(part.offset), part.range, addressOf(at + 2 * (part.low - low)));
    }
    const [means, weights] = [at + 2 * length, at + 3 * length];
    const size = this.#exports.centroids(
      addressOf(at),
      length,
      addressOf(means),
      addressOf(weights),
    );
    return {
      means: doubles.subarray(means, means + size),
      weights: doubles.subarray(weights, weights + size),
      size,
    };
  }

  /** That room, or a larger one instead. */
  #roomFor(doubles: number, room: Allocation): Allocation {
    if (doubles <= room.doubles) return room;
    this.#memory.release(room);
    return this.#memory.allocate(doubles);
  }
}
