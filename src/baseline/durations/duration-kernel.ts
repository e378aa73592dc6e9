import { invariant } from '../../base/invariant.ts';
import { type Allocation, Arena, addressOf, floatAddressOf } from '../../memory/arena.ts';
import type { RangeSums } from '../../memory/range-sums.ts';
import { highIndex, highWord } from '../../sketch/high-word.ts';
import { TDigest } from '../../sketch/t-digest.ts';
import { durationKernelWasm } from './duration-kernel-wasm.ts';

/** Shift from a high word to its bucket: 32 an octave, by the exponent and the top 5 mantissa bits. */
const SHIFT = 20 - 5;
/** Shorter durations count as this one: 2^-10 ms. */
const leastMs = 2 ** -10;
/** Doubles allocated at first. */
const initialDoubles = 2_048;
/** Doubles that kernels may read beyond their input. */
const margin = 2;
/** Doubles of a bucket in a merge: count, sum, mean and weight. */
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

/** WebAssembly that adds digests to buckets, and buckets to each other. */
class DurationKernel {
  readonly #memory = Arena.shared();
  readonly #exports: Exports;
  #scratch: Allocation;
  /** Array of digests that was copied last. */
  #copied: TDigest['centroids'] | undefined;
  #copy: Allocation;

  constructor() {
    invariant(highIndex === 1, 'this machine is big endian, which tailmark does not run on');
    this.#exports = this.#memory.kernel(durationKernelWasm);
    this.#scratch = this.#memory.allocate(initialDoubles);
    this.#copy = this.#memory.allocate(initialDoubles);
  }

  /**
   * Copies a digest's centroids to the kernel's memory, as floats, and returns their address. All digests of
   * its array are copied at once, unless they were copied last.
   */
  copyIn({ centroids, from }: TDigest): number {
    if (centroids !== this.#copied) {
      this.#copy = this.#grown(centroids.length / 2 + margin, this.#copy);
      this.#memory.floats.set(centroids, 2 * this.#copy.offset);
      this.#copied = centroids;
    }
    return addressOf(this.#copy.offset) + floatAddressOf(from);
  }

  /** Adds a digest to buckets, and extends their range. */
  add(digest: TDigest, buckets: RangeSums): void {
    const { size } = digest;
    const centroids = this.copyIn(digest);
    for (let done = 0; ; ) {
      const { offset, low, range } = buckets;
      done = this.#exports.add(centroids, size, done, addressOf(offset), low, range, leastMs);
      if (done === size) return;
      // Rounded to a float, as in the kernel: the double may be in another bucket.
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
    const centroids = this.copyIn(digest);
    this.#scratch = this.#grown(size / 2 + margin, this.#scratch);
    const upTo = addressOf(this.#scratch.offset);
    this.#exports.count(centroids, size, upTo, addressOf(counts), quantiles, requests, startMs);
  }

  /** Merges sums of buckets, in their order, into a digest of a centroid a bucket. */
  merge(parts: readonly RangeSums[]): TDigest {
    const used = parts.filter(({ range }) => range > 0);
    let low = Number.POSITIVE_INFINITY;
    let end = Number.NEGATIVE_INFINITY;
    for (const part of used) {
      low = Math.min(low, part.low);
      end = Math.max(end, part.low + part.range);
    }
    const length = used.length === 0 ? 0 : end - low;
    this.#scratch = this.#grown(length * doublesPerBucket, this.#scratch);
    const { offset } = this.#scratch;
    const { doubles } = this.#memory;
    doubles.fill(0, offset, offset + 2 * length);
    for (const part of used) {
      this.#exports.join(
        addressOf(part.offset),
        part.range,
        addressOf(offset + 2 * (part.low - low)),
      );
    }
    const [means, weights] = [offset + 2 * length, offset + 3 * length];
    const size = this.#exports.centroids(
      addressOf(offset),
      length,
      addressOf(means),
      addressOf(weights),
    );
    return TDigest.fromCentroids(
      doubles.subarray(means, means + size),
      doubles.subarray(weights, weights + size),
      size,
    );
  }

  /** Returns the allocation, or a larger one instead. */
  #grown(doubles: number, allocation: Allocation): Allocation {
    if (doubles <= allocation.doubles) return allocation;
    this.#memory.release(allocation);
    return this.#memory.allocate(doubles);
  }
}

function bucketOf(ms: number): number {
  return highWord(Math.max(ms, leastMs)) >>> SHIFT;
}

/** The kernel of this thread. Its import fails where there is no WebAssembly, or numbers are big endian. */
export const durationKernel = new DurationKernel();
