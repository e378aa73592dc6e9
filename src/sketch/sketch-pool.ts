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
import { highWord } from './high-word.ts';
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
/** Requests and milliseconds by bucket that are left out of a slot; zero but while one is read. */
const leftOut = new Float64Array(2 * octaves * pageBuckets);
/** Leading bits of a double number its bucket; the first octave begins at 2^-20 ms, as in the kernel. */
const bucketShift = 14;
const octaveOffset = 1023 - 20 - 1;

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
    if (!this.#hasBuckets(address)) return this.#sortWaiting(address, means, weights);
    return joinBuckets(this.#readBuckets(address), means, weights, phase);
  }

  /**
   * Does as `centroids`, but values of few buckets stay in these: none is joined with those of another bucket. So
   * time limits stay apart.
   */
  spikes(slot: number, means: Float64Array, weights: Float64Array, phase = 1): number {
    const address = this.addressOf(slot);
    if (!this.#hasBuckets(address)) return this.#sortWaiting(address, means, weights);
    const buckets = this.#readBuckets(address);
    if (buckets > stateCentroids) return joinBuckets(buckets, means, weights, phase);
    return copyBuckets(buckets, means, weights);
  }

  /**
   * Does as `centroids` for the values of a slot without those of a slot of another pool, which are among them. Exact
   * where the slot stores single values; otherwise the means of buckets are. An extreme that both slots have is the
   * mean of the outermost bucket that remains, which is 1.6 % wide.
   */
  centroidsWithout(
    slot: number,
    part: SketchPool,
    partSlot: number,
    means: Float64Array,
    weights: Float64Array,
    phase = 1,
  ): number {
    const address = this.addressOf(slot);
    const partAddress = part.addressOf(partSlot);
    if (!this.#hasBuckets(address)) {
      const n = this.#sortWaiting(address, means, weights);
      return removeValues(means, n, part.#sortWaiting(partAddress, bucketMeans, bucketWeights));
    }
    part.#leaveOut(partAddress);
    const buckets = this.#readRemaining(address, true);
    // Extremes of few values need no split: their buckets hold one each, or nearly so.
    if (this.requests(slot) - part.requests(partSlot) <= kernelValues.wideSlot) {
      bucketMeans.copyWithin(0, 1, buckets);
      bucketWeights.copyWithin(0, 1, buckets);
      return joinBuckets(buckets - 1, means, weights, phase);
    }
    const [minMs, maxMs] = [this.minMs(slot), this.maxMs(slot)];
    const lowMs = part.minMs(partSlot) > minMs ? minMs : (bucketMeans[1] as number);
    const highMs = part.maxMs(partSlot) < maxMs ? maxMs : (bucketMeans[buckets - 1] as number);
    return joinBuckets(splitExtremes(lowMs, highMs, buckets), means, weights, phase);
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
  #sortWaiting(address: number, means: Float64Array, weights: Float64Array): number {
    const requests = this.#waiting(address);
    for (let i = 0; i < requests; i++) {
      const value = this.#value(address, i);
      let j = i;
      for (; j > 0 && (means[j - 1] as number) > value; j--) means[j] = means[j - 1] as number;
      means[j] = value;
      weights[i] = 1;
    }
    return requests;
  }

  #hasBuckets(address: number): boolean {
    return this.#counted(address, offsets.requests, 0) > 0;
  }

  /** Fills the scratch with a wide slot's buckets, minimum and maximum separated. */
  #readBuckets(address: number): number {
    const buckets = this.#readRemaining(address, false);
    const { doubles } = this.#kernel;
    const minMs = doubles[(address + offsets.min) >>> 3] as number;
    const maxMs = doubles[(address + offsets.max) >>> 3] as number;
    return splitExtremes(minMs, maxMs, buckets);
  }

  /** Fills the scratch, from 1 on, with a wide slot's buckets; maybe less `leftOut`, which it clears. */
  #readRemaining(address: number, isLess: boolean): number {
    if (this.#waiting(address) > 0) this.#kernel.spill(this.#host, address);
    const { ints, doubles } = this.#kernel;
    const table = (ints[(address + offsets.table) >>> 2] as number) >>> 2;
    const maxMs = doubles[(address + offsets.max) >>> 3] as number;
    let previous = doubles[(address + offsets.min) >>> 3] as number;
    let n = 1;
    for (let octave = 0; octave < octaves; octave++) {
      const page = (ints[table + octave] as number) >>> 3;
      if (page === 0) continue;
      const out = 2 * pageBuckets * octave;
      for (let entry = 0; entry < 2 * pageBuckets; entry += 2) {
        let weight = doubles[page + entry] as number;
        if (weight === 0) continue;
        let sum = doubles[page + entry + 1] as number;
        if (isLess) {
          weight -= leftOut[out + entry] as number;
          if (weight === 0) continue;
          sum -= leftOut[out + entry + 1] as number;
        }
        // A mean may round across its bucket's bound, beyond the next mean.
        previous = Math.max(previous, Math.min(sum / weight, maxMs));
        bucketMeans[n] = previous;
        bucketWeights[n++] = weight;
      }
      if (isLess) leftOut.fill(0, out, out + 2 * pageBuckets);
    }
    return n;
  }

  /** Adds all values of a slot to `leftOut`. */
  #leaveOut(address: number): void {
    const { ints, doubles } = this.#kernel;
    for (let i = this.#waiting(address) - 1; i >= 0; i--) {
      const ms = this.#value(address, i);
      const entry = 2 * bucketOf(ms);
      leftOut[entry] = (leftOut[entry] as number) + 1;
      leftOut[entry + 1] = (leftOut[entry + 1] as number) + ms;
    }
    if (!this.#hasBuckets(address)) return;
    const table = (ints[(address + offsets.table) >>> 2] as number) >>> 2;
    for (let octave = 0; octave < octaves; octave++) {
      const page = (ints[table + octave] as number) >>> 3;
      if (page === 0) continue;
      const out = 2 * pageBuckets * octave;
      for (let i = 0; i < 2 * pageBuckets; i++) {
        leftOut[out + i] = (leftOut[out + i] as number) + (doubles[page + i] as number);
      }
    }
  }
}

/** Number of a duration's bucket, as in the kernel. */
function bucketOf(ms: number): number {
  const bucket = (highWord(ms) >>> bucketShift) - octaveOffset * pageBuckets;
  if (bucket < pageBuckets) return 0;
  return Math.min(bucket, (octaves - 1) * pageBuckets);
}

/** Joins the first buckets of the scratch to centroids; returns their number. */
function joinBuckets(
  buckets: number,
  means: Float64Array,
  weights: Float64Array,
  phase: number,
): number {
  findAnchors(bucketMeans, bucketWeights, buckets);
  let joined = joinByRank(bucketMeans, bucketWeights, buckets, mostByRank);
  if (joined === 0) {
    const most = stateCentroids - anchorCentroids;
    joined = compressCentroids(bucketMeans, bucketWeights, buckets, most, true, phase);
  }
  return copyBuckets(placeAnchors(bucketMeans, bucketWeights, joined), means, weights);
}

function copyBuckets(n: number, means: Float64Array, weights: Float64Array): number {
  for (let i = 0; i < n; i++) {
    means[i] = bucketMeans[i] as number;
    weights[i] = bucketWeights[i] as number;
  }
  return n;
}

/** Removes the first `out` values of the scratch from sorted ones, which have them; returns how many remain. */
function removeValues(values: Float64Array, n: number, out: number): number {
  let kept = 0;
  let removed = 0;
  for (let i = 0; i < n; i++) {
    if (removed < out && values[i] === bucketMeans[removed]) removed++;
    else values[kept++] = values[i] as number;
  }
  return kept;
}

/**
 * Splits the minimum off the first bucket, into entry 0, and the maximum off the last; returns the new count.
 * `n` counts entry 0. There are over 32 values, so at most one bucket becomes empty at either end.
 */
function splitExtremes(minMs: number, maxMs: number, n: number): number {
  bucketMeans[0] = minMs;
  if (minMs >= maxMs) {
    let weight = 0;
    for (let i = 1; i < n; i++) weight += bucketWeights[i] as number;
    bucketWeights[0] = weight;
    return 1;
  }
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
