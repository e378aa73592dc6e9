import { grown } from '../base/grown.ts';
import { invariant } from '../base/invariant.ts';
import { compressCentroids } from './compress-centroids.ts';
import {
  type CountHost,
  CountKernel,
  kernelBytes,
  kernelStages,
  kernelValues,
  kernelOffsets as offsets,
  refusingHost,
} from './count-kernel.ts';
import { joinByRank } from './join-by-rank.ts';
import { anchorCentroids, findAnchors, placeAnchors } from './quantile-anchors.ts';
import { wholeUs } from './whole-us.ts';

/** Maximum number of centroids of a state, anchors included: 489 bytes in ClickHouse. */
export const stateCentroids = 61;
/** Of so few values only two anchors, p50 and p90, are within a centroid: the others are single values. */
const mostByRank = stateCentroids - 4;
/** A page table has an address for each octave; a page has (requests, sum in ms) for each bucket. */
const octaves = 64;
/** A slot's first word: the number of its values, and above it the room for them. */
const WAITING_MASK = 0xffff;
const ROOM_SHIFT = 16;
const pageBuckets = 64;
/** A stage that no block holds: the kernel asks its host for the slot. */
const hostStage = kernelStages.inBlock + kernelStages.inTable;
const NO_BLOCK = 0;
const NO_BAND = -1;

const bucketMeans = new Float64Array(octaves * pageBuckets + 2 + anchorCentroids);
const bucketWeights = new Float64Array(octaves * pageBuckets + 2 + anchorCentroids);

/**
 * Durations of many slots; a slot is a stage of a series in a window. Adding is cheap, and each slot can be
 * turned into t-digest centroids.
 *
 * A slot stores its first 32 values as they are, so that small windows are exact. Later values are (requests,
 * sum) in logarithmic buckets: exponent and top 6 mantissa bits, 64 an octave, each 1.1 to 1.6 % wide. A
 * bucket's mean is exact, so the error of a quantile is far below its width. Values move to buckets 32 at a
 * time, so that their cache misses overlap.
 *
 * Adding is done in WebAssembly (`CountKernel`), reading here.
 *
 * Memory: 68 bytes a slot of up to 7 values, 320 more beyond. A slot of more than 32 values adds a table of
 * 256 bytes and 1 KiB for each octave. Latencies of one stage touch three to six octaves. So 100,000 slots of
 * few values are 7 MB, and 1,000 busy ones 5 MB. `reset` gives the memory back to the kernel, for any pool.
 */
export class SketchPool {
  readonly #kernel = CountKernel.shared();
  readonly #arena = this.#kernel.arena();
  #addresses = new Int32Array(256);
  #slotCount = 0;
  readonly #host: CountHost = {
    ...refusingHost,
    allocate: (bytes) => this.allocateBytes(bytes),
    slotOf: () => this.addressOf(this.#added),
  };
  /** The slot that `addMany` adds to. */
  #added = 0;

  /** Bytes of the kernel's memory in use, in whole blocks. */
  get bytes(): number {
    return this.#arena.bytes;
  }

  /** Allocates an empty slot: 0, 1, 2, … since the last reset. */
  allocate(): number {
    const slot = this.#slotCount;
    const address = this.#arena.allocate(kernelBytes.slot);
    this.#kernel.ints[(address + offsets.waiting) >>> 2] = kernelValues.slot << ROOM_SHIFT;
    if (slot === this.#addresses.length) this.#addresses = grown(this.#addresses, slot + 1);
    this.#addresses[slot] = address;
    this.#slotCount = slot + 1;
    return slot;
  }

  /** Address of a slot in the kernel's memory: that of its wide slot once there is one. */
  addressOf(slot: number): number {
    invariant(slot >= 0 && slot < this.#slotCount, 'no such sketch slot');
    const address = (this.#addresses[slot] as number) >>> 0;
    const { ints } = this.#kernel;
    // Neither values nor room for them: the kernel has replaced it.
    if (ints[(address + offsets.waiting) >>> 2] !== 0) return address;
    const wide = ints[(address + offsets.values) >>> 2] as number;
    this.#addresses[slot] = wide;
    return wide >>> 0;
  }

  /** Allocates zeroed memory for the kernel until `reset`. */
  allocateBytes(bytes: number): number {
    return this.#arena.allocateZeroed(bytes);
  }

  /** Adds a duration, finite and >= 0, in milliseconds. */
  add(slot: number, valueMs: number): void {
    this.#kernel.add(this.#host, this.addressOf(slot), valueMs);
  }

  /** Does as `add` does `times` times, at the cost of 64 of them at most. */
  addMany(slot: number, valueMs: number, times: number): void {
    const { ids, durations } = this.#kernel;
    ids[0] = hostStage;
    durations[0] = valueMs;
    this.#added = slot;
    this.#kernel.countMany(this.#host, NO_BLOCK, NO_BAND, 1, 0, 0, times);
  }

  requests(slot: number): number {
    const address = this.addressOf(slot);
    return this.#counted(address, offsets.requests, 0) + this.#waiting(address);
  }

  /** Sum of the durations, each rounded to whole microseconds: exact and mergeable below 2^53. */
  sumUs(slot: number): number {
    const address = this.addressOf(slot);
    let sum = this.#counted(address, offsets.sum, 0);
    for (let i = this.#waiting(address) - 1; i >= 0; i--) sum += wholeUs(this.#value(address, i));
    return sum;
  }

  /** Infinity while the slot is empty. */
  minMs(slot: number): number {
    const address = this.addressOf(slot);
    let min = this.#counted(address, offsets.min, Number.POSITIVE_INFINITY);
    for (let i = this.#waiting(address) - 1; i >= 0; i--) {
      min = Math.min(min, this.#value(address, i));
    }
    return min;
  }

  /** -Infinity while the slot is empty. */
  maxMs(slot: number): number {
    const address = this.addressOf(slot);
    let max = this.#counted(address, offsets.max, Number.NEGATIVE_INFINITY);
    for (let i = this.#waiting(address) - 1; i >= 0; i--) {
      max = Math.max(max, this.#value(address, i));
    }
    return max;
  }

  /**
   * Writes the slot's centroids, at most 61, ascending, and returns their number. Their weights add up to
   * `requests`. The first and the last are the minimum and the maximum, and values at the stored quantiles
   * are separate centroids (`findAnchors`). Both arrays need room for 61. `phase` is that of
   * `compressCentroids`: another one for each window of a series, so that merged digests are even. Cost:
   * microseconds; allocates nothing.
   */
  centroids(slot: number, means: Float64Array, weights: Float64Array, phase = 1): number {
    const address = this.addressOf(slot);
    const waiting = this.#waiting(address);
    if (this.#counted(address, offsets.requests, 0) === 0) {
      return this.#sortWaiting(address, waiting, means, weights);
    }
    if (waiting > 0) this.#kernel.spill(this.#host, address);
    const buckets = this.#readBuckets(address);
    findAnchors(bucketMeans, bucketWeights, buckets);
    let joined = joinByRank(bucketMeans, bucketWeights, buckets, mostByRank);
    if (joined === 0) {
      const most = stateCentroids - anchorCentroids;
      joined = compressCentroids(bucketMeans, bucketWeights, buckets, most, true, phase);
    }
    const n = placeAnchors(bucketMeans, bucketWeights, joined);
    for (let i = 0; i < n; i++) {
      means[i] = bucketMeans[i] as number;
      weights[i] = bucketWeights[i] as number;
    }
    return n;
  }

  /** Removes all slots. */
  reset(): void {
    this.#slotCount = 0;
    this.#arena.reset();
  }

  /** Sum of the buckets of a wide slot; `empty` for a slot without buckets. */
  #counted(address: number, offset: number, empty: number): number {
    const { ints, doubles } = this.#kernel;
    const room = (ints[(address + offsets.waiting) >>> 2] as number) >>> ROOM_SHIFT;
    return room === kernelValues.wideSlot ? (doubles[(address + offset) >>> 3] as number) : empty;
  }

  #waiting(address: number): number {
    return (this.#kernel.ints[(address + offsets.waiting) >>> 2] as number) & WAITING_MASK;
  }

  #value(address: number, i: number): number {
    return this.#kernel.doubles[((address + offsets.values) >>> 3) + i] as number;
  }

  /** Insertion sort of at most 32 values, without allocation. */
  #sortWaiting(
    address: number,
    requests: number,
    means: Float64Array,
    weights: Float64Array,
  ): number {
    for (let i = 0; i < requests; i++) {
      const value = this.#value(address, i);
      let j = i;
      for (; j > 0 && (means[j - 1] as number) > value; j--) means[j] = means[j - 1] as number;
      means[j] = value;
      weights[i] = 1;
    }
    return requests;
  }

  /** Fills the scratch with a wide slot's buckets, minimum and maximum separated. */
  #readBuckets(address: number): number {
    const { ints, doubles } = this.#kernel;
    const table = (ints[(address + offsets.table) >>> 2] as number) >>> 2;
    const minMs = doubles[(address + offsets.min) >>> 3] as number;
    const maxMs = doubles[(address + offsets.max) >>> 3] as number;
    // Entry 0 is the minimum, which is subtracted from the first bucket.
    let n = 1;
    let previous = minMs;
    for (let octave = 0; octave < octaves; octave++) {
      const page = (ints[table + octave] as number) >>> 3;
      if (page === 0) continue;
      for (let entry = page; entry < page + 2 * pageBuckets; entry += 2) {
        const weight = doubles[entry] as number;
        if (weight === 0) continue;
        // A mean may round across its bucket's bound, beyond the next mean.
        previous = Math.max(previous, Math.min((doubles[entry + 1] as number) / weight, maxMs));
        bucketMeans[n] = previous;
        bucketWeights[n++] = weight;
      }
    }
    if (minMs === maxMs) {
      bucketMeans[0] = minMs;
      bucketWeights[0] = doubles[(address + offsets.requests) >>> 3] as number;
      return 1;
    }
    return splitExtremes(minMs, maxMs, n);
  }
}

/**
 * Splits the minimum off the first bucket, into entry 0, and the maximum off the last; returns the new count.
 * `n` counts entry 0. There are over 32 values, so at most one bucket becomes empty at either end.
 */
function splitExtremes(minMs: number, maxMs: number, n: number): number {
  bucketMeans[0] = minMs;
  bucketWeights[0] = 1;
  subtractOne(1, minMs, minMs, n > 2 ? (bucketMeans[2] as number) : maxMs);
  subtractOne(n - 1, maxMs, n > 2 ? (bucketMeans[n - 2] as number) : minMs, maxMs);
  let end = n;
  if (bucketWeights[end - 1] === 0) end--;
  bucketMeans[end] = maxMs;
  bucketWeights[end++] = 1;
  if (bucketWeights[1] !== 0) return end;
  bucketMeans.copyWithin(1, 2, end);
  bucketWeights.copyWithin(1, 2, end);
  return end - 1;
}

/** Subtracts one request of `valueMs` from a bucket; the bucket keeps the rest of its sum. */
function subtractOne(bucket: number, valueMs: number, lowMs: number, highMs: number): void {
  const weight = bucketWeights[bucket] as number;
  const mean = bucketMeans[bucket] as number;
  bucketWeights[bucket] = weight - 1;
  if (weight === 1) return;
  const rest = (mean * weight - valueMs) / (weight - 1);
  bucketMeans[bucket] = Math.min(Math.max(rest, lowMs), highMs);
}
