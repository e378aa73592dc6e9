import { invariant } from '../base/invariant.ts';
import { compressCentroids } from './compress-centroids.ts';
import { highIndex } from './high-word.ts';
import { anchorCentroids, findAnchors, placeAnchors } from './quantile-anchors.ts';
import { wholeUs } from './whole-us.ts';

/** Centroids of one state at most, those of anchors among them: 489 bytes in ClickHouse. */
export const stateCentroids = 61;
/** Values that wait, as they came: all of a small slot, the last of another. */
const blockValues = 32;
/** A slot, in doubles: what is in buckets (requests, sum, min, max, page table), values that wait. */
const SUM = 1;
const MIN = 2;
const MAX = 3;
const TABLE = 4;
const BLOCK = 8;
/** Five cache lines: one of sums, four of values. */
const slotDoubles = 40;
/** A page table has a 32-bit entry an octave. */
const tableEntries = 64;
/** Octave 1 begins at 2^-20 ms; octave 0 takes what is below, octave 63 what is above 2^42 ms. */
const octaveOffset = 1023 - 20 - 1;
const pageBuckets = 64;
/** A page, in doubles: (requests, sum in ms) of each bucket, side by side in one cache line. */
const pageDoubles = pageBuckets * 2;
const slabBits = 10;
const slotsPerSlab = 1 << slabBits;
const tableBits = 8;
const tablesPerSlab = 1 << tableBits;
const pageBits = 8;
const pagesPerSlab = 1 << pageBits;
const defaultMaxSlots = 1 << 22;

const noPages = new Float64Array(0);
const bucketMeans = new Float64Array(tableEntries * pageBuckets + 2 + anchorCentroids);
const bucketWeights = new Float64Array(tableEntries * pageBuckets + 2 + anchorCentroids);

/**
 * The write side: durations of many slots (a slot is a stage of a series in a window), kept so
 * that adding one is cheap and each slot can be turned into t-digest centroids.
 *
 * A slot keeps its first 32 values as they are, so that small windows are exact. From the 33rd on
 * it keeps (requests, sum) in logarithmic buckets: exponent and top 6 mantissa bits of the double,
 * 64 an octave, each 1.1 to 1.6 % wide. As a bucket's mean is exact, not its middle, what a
 * quantile loses within a bucket is far below its width. Values go to buckets 32 at a time: of a
 * busy pool each bucket is a cache miss, and misses that come together are waited for together.
 *
 * Memory: 321 bytes a slot. A slot of more than 32 values adds a table of 256 bytes and 1 KiB an
 * octave it touches; latencies of one stage touch three to six. So 100,000 slots of few values are
 * 32 MB, and 1,000 busy ones 5 MB. Slabs are allocated by need, never moved, and kept over `reset`,
 * so that in the steady state nothing is allocated.
 */
export class SketchPool {
  readonly #maxSlots: number;
  readonly #slots: Float64Array[] = [];
  /** The same memory as `#slots`, for the upper halves of the values. */
  readonly #words: Int32Array[] = [];
  /** How many values wait, by slot: apart from them, as integers are counted faster than doubles. */
  readonly #waiting: Uint8Array[] = [];
  readonly #tables: Int32Array[] = [];
  readonly #pages: Float64Array[] = [];
  #slotCount = 0;
  /** Page 0 is never handed out: 0 in a table means that there is no page. */
  #pageCount = 1;
  #tableCount = 1;

  constructor(options: { readonly maxSlots?: number } = {}) {
    this.#maxSlots = options.maxSlots ?? defaultMaxSlots;
  }

  get slotCount(): number {
    return this.#slotCount;
  }

  /** Memory held, whether in use or kept for reuse. */
  get bytes(): number {
    return (
      this.#slots.length * slotsPerSlab * (slotDoubles * 8 + 1) +
      this.#tables.length * tablesPerSlab * tableEntries * 4 +
      this.#pages.length * pagesPerSlab * pageDoubles * 8
    );
  }

  /** A new, empty slot: 0, 1, 2, … since the last reset; -1 when `maxSlots` are taken. */
  allocate(): number {
    const slot = this.#slotCount;
    if (slot >= this.#maxSlots) return -1;
    const slab = slot >>> slabBits;
    if (slab === this.#slots.length) {
      const doubles = new Float64Array(slotsPerSlab * slotDoubles);
      this.#slots.push(doubles);
      this.#words.push(new Int32Array(doubles.buffer));
      this.#waiting.push(new Uint8Array(slotsPerSlab));
    }
    const slots = this.#slots[slab] as Float64Array;
    const at = (slot & (slotsPerSlab - 1)) * slotDoubles;
    slots[at] = 0;
    slots[at + SUM] = 0;
    slots[at + MIN] = Number.POSITIVE_INFINITY;
    slots[at + MAX] = Number.NEGATIVE_INFINITY;
    slots[at + TABLE] = 0;
    (this.#waiting[slab] as Uint8Array)[slot & (slotsPerSlab - 1)] = 0;
    this.#slotCount = slot + 1;
    return slot;
  }

  /** Adds a duration, finite and >= 0, in milliseconds. Hot: nothing is allocated. */
  add(slot: number, valueMs: number): void {
    invariant(slot >= 0 && slot < this.#slotCount, 'no such sketch slot');
    const slab = slot >>> slabBits;
    const index = slot & (slotsPerSlab - 1);
    const counts = this.#waiting[slab] as Uint8Array;
    let waiting = counts[index] as number;
    if (waiting === blockValues) {
      this.#spill(slab, index);
      waiting = 0;
    }
    (this.#slots[slab] as Float64Array)[index * slotDoubles + BLOCK + waiting] = valueMs;
    counts[index] = waiting + 1;
  }

  /** Adds the first `count` values, each to the slot of the same place. As `add`. */
  addAll(slots: Int32Array, valuesMs: Float64Array, count: number): void {
    for (let i = 0; i < count; i++) this.add(slots[i] as number, valuesMs[i] as number);
  }

  requests(slot: number): number {
    return this.#read(slot, 0) + this.#waitingIn(slot);
  }

  /** Sum of the durations, each rounded to whole microseconds: exact and mergeable below 2^53. */
  sumUs(slot: number): number {
    let sum = this.#read(slot, SUM);
    for (let i = this.#waitingIn(slot) - 1; i >= 0; i--) {
      sum += wholeUs(this.#read(slot, BLOCK + i));
    }
    return sum;
  }

  /** Infinity while the slot is empty. */
  minMs(slot: number): number {
    let min = this.#read(slot, MIN);
    for (let i = this.#waitingIn(slot) - 1; i >= 0; i--) {
      min = Math.min(min, this.#read(slot, BLOCK + i));
    }
    return min;
  }

  /** -Infinity while the slot is empty. */
  maxMs(slot: number): number {
    let max = this.#read(slot, MAX);
    for (let i = this.#waitingIn(slot) - 1; i >= 0; i--) {
      max = Math.max(max, this.#read(slot, BLOCK + i));
    }
    return max;
  }

  /**
   * Writes the slot's at most 61 centroids, ascending, and returns how many. Their weights add up
   * to `requests`; the first and the last are the exact minimum and maximum, and what lies at the
   * stored quantiles stands alone (`findAnchors`). Both arrays need room for 61. `phase` is that of
   * `compressCentroids`: another one for each window of a series, so that merged they are even.
   * Cost: microseconds; allocates nothing.
   */
  centroids(slot: number, means: Float64Array, weights: Float64Array, phase = 1): number {
    const requests = this.#read(slot, 0);
    const waiting = this.#waitingIn(slot);
    if (requests === 0) return this.#sortBlock(slot, waiting, means, weights);
    if (waiting > 0) this.#spill(slot >>> slabBits, slot & (slotsPerSlab - 1));
    const buckets = this.#readBuckets(slot);
    findAnchors(bucketMeans, bucketWeights, buckets);
    const most = stateCentroids - anchorCentroids;
    const joined = compressCentroids(bucketMeans, bucketWeights, buckets, most, true, phase);
    const n = placeAnchors(bucketMeans, bucketWeights, joined);
    for (let i = 0; i < n; i++) {
      means[i] = bucketMeans[i] as number;
      weights[i] = bucketWeights[i] as number;
    }
    return n;
  }

  /** Forgets all slots and keeps the memory. Slots and pages are cleared when taken again. */
  reset(): void {
    this.#slotCount = 0;
    this.#pageCount = 1;
    this.#tableCount = 1;
  }

  #read(slot: number, field: number): number {
    invariant(slot >= 0 && slot < this.#slotCount, `no such sketch slot: ${slot}`);
    const slots = this.#slots[slot >>> slabBits] as Float64Array;
    return slots[(slot & (slotsPerSlab - 1)) * slotDoubles + field] as number;
  }

  #waitingIn(slot: number): number {
    return (this.#waiting[slot >>> slabBits] as Uint8Array)[slot & (slotsPerSlab - 1)] as number;
  }

  /** Moves the values that wait into their buckets. */
  #spill(slab: number, index: number): void {
    const slots = this.#slots[slab] as Float64Array;
    const words = this.#words[slab] as Int32Array;
    const counts = this.#waiting[slab] as Uint8Array;
    const waiting = counts[index] as number;
    const at = index * slotDoubles;
    const block = at + BLOCK;
    let table = slots[at + TABLE] as number;
    if (table === 0) {
      table = this.#takeTable();
      slots[at + TABLE] = table;
    }
    const tables = this.#tables[table >>> tableBits] as Int32Array;
    const entries = (table & (tablesPerSlab - 1)) * tableEntries;
    let sum = slots[at + SUM] as number;
    let min = slots[at + MIN] as number;
    let max = slots[at + MAX] as number;
    let pageSlab = -1;
    let pages: Float64Array = noPages;
    for (let i = 0; i < waiting; i++) {
      const valueMs = slots[block + i] as number;
      sum += wholeUs(valueMs);
      if (valueMs < min) min = valueMs;
      if (valueMs > max) max = valueMs;
      // The sign is dropped with the bits above the octave: -0 counts as 0.
      const bits = ((words[(block + i) * 2 + highIndex] as number) & 0x7fffffff) >>> 14;
      let octave = (bits >>> 6) - octaveOffset;
      let bucket = bits & (pageBuckets - 1);
      if (octave < 1) {
        octave = 0;
        bucket = 0;
      } else if (octave >= tableEntries - 1) {
        octave = tableEntries - 1;
        bucket = 0;
      }
      let page = tables[entries + octave] as number;
      if (page === 0) {
        page = this.#takePage();
        tables[entries + octave] = page;
      }
      // Nearly always the one of the value before.
      if (page >>> pageBits !== pageSlab) {
        pageSlab = page >>> pageBits;
        pages = this.#pages[pageSlab] as Float64Array;
      }
      const cell = (page & (pagesPerSlab - 1)) * pageDoubles + bucket * 2;
      pages[cell] = (pages[cell] as number) + 1;
      pages[cell + 1] = (pages[cell + 1] as number) + valueMs;
    }
    slots[at] = (slots[at] as number) + waiting;
    slots[at + SUM] = sum;
    slots[at + MIN] = min;
    slots[at + MAX] = max;
    counts[index] = 0;
  }

  #takeTable(): number {
    const table = this.#tableCount++;
    const slab = table >>> tableBits;
    if (slab === this.#tables.length)
      this.#tables.push(new Int32Array(tablesPerSlab * tableEntries));
    const from = (table & (tablesPerSlab - 1)) * tableEntries;
    (this.#tables[slab] as Int32Array).fill(0, from, from + tableEntries);
    return table;
  }

  #takePage(): number {
    const page = this.#pageCount++;
    const slab = page >>> pageBits;
    if (slab === this.#pages.length) this.#pages.push(new Float64Array(pagesPerSlab * pageDoubles));
    const from = (page & (pagesPerSlab - 1)) * pageDoubles;
    (this.#pages[slab] as Float64Array).fill(0, from, from + pageDoubles);
    return page;
  }

  /** Insertion sort: there are 32 at most, and it needs no memory. */
  #sortBlock(slot: number, requests: number, means: Float64Array, weights: Float64Array): number {
    const slots = this.#slots[slot >>> slabBits] as Float64Array;
    const block = (slot & (slotsPerSlab - 1)) * slotDoubles + BLOCK;
    for (let i = 0; i < requests; i++) {
      const value = slots[block + i] as number;
      let at = i;
      for (; at > 0 && (means[at - 1] as number) > value; at--) means[at] = means[at - 1] as number;
      means[at] = value;
      weights[i] = 1;
    }
    return requests;
  }

  /** Fills the scratch with the slot's buckets, the minimum and maximum apart from theirs. */
  #readBuckets(slot: number): number {
    const number = this.#read(slot, TABLE);
    const tables = this.#tables[number >>> tableBits] as Int32Array;
    const table = (number & (tablesPerSlab - 1)) * tableEntries;
    const minMs = this.#read(slot, MIN);
    const maxMs = this.#read(slot, MAX);
    // Place 0 is for the minimum, which is taken out of the first bucket.
    let n = 1;
    let previous = minMs;
    for (let octave = 0; octave < tableEntries; octave++) {
      const page = tables[table + octave] as number;
      if (page === 0) continue;
      const pages = this.#pages[page >>> pageBits] as Float64Array;
      const from = (page & (pagesPerSlab - 1)) * pageDoubles;
      for (let cell = from; cell < from + pageDoubles; cell += 2) {
        const weight = pages[cell] as number;
        if (weight === 0) continue;
        // A mean may round across its bucket's bound, where the next one's may lie.
        previous = Math.max(previous, Math.min((pages[cell + 1] as number) / weight, maxMs));
        bucketMeans[n] = previous;
        bucketWeights[n++] = weight;
      }
    }
    if (minMs === maxMs) {
      bucketMeans[0] = minMs;
      bucketWeights[0] = this.#read(slot, 0);
      return 1;
    }
    return takeOutExtremes(minMs, maxMs, n);
  }
}

/**
 * Splits the minimum off the first bucket, into place 0, and the maximum off the last; returns the
 * new count. `n` counts place 0. There are over 32 values, so only one bucket can become empty at
 * either end.
 */
function takeOutExtremes(minMs: number, maxMs: number, n: number): number {
  bucketMeans[0] = minMs;
  bucketWeights[0] = 1;
  takeOne(1, minMs, minMs, n > 2 ? (bucketMeans[2] as number) : maxMs);
  takeOne(n - 1, maxMs, n > 2 ? (bucketMeans[n - 2] as number) : minMs, maxMs);
  let end = n;
  if (bucketWeights[end - 1] === 0) end--;
  bucketMeans[end] = maxMs;
  bucketWeights[end++] = 1;
  if (bucketWeights[1] !== 0) return end;
  bucketMeans.copyWithin(1, 2, end);
  bucketWeights.copyWithin(1, 2, end);
  return end - 1;
}

/** Takes one request of `valueMs` out of a bucket; the rest keeps the bucket's sum. */
function takeOne(bucket: number, valueMs: number, lowMs: number, highMs: number): void {
  const weight = bucketWeights[bucket] as number;
  const mean = bucketMeans[bucket] as number;
  bucketWeights[bucket] = weight - 1;
  if (weight === 1) return;
  const rest = (mean * weight - valueMs) / (weight - 1);
  bucketMeans[bucket] = Math.min(Math.max(rest, lowMs), highMs);
}
