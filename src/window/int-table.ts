import { grown } from '../base/grown.ts';

/**
 * Maps keys of a fixed number of 32-bit integers to indices 0, 1, 2 … in order of first sight.
 * Flat typed arrays, open addressing, linear probing, at most half full: no object per key.
 *
 *     slots   [ -1 | 2 | -1 | 0 | 1 | -1 … ]        power of two, index or -1
 *     keys    [ key 0 … | key 1 … | key 2 … ]        `width` integers each
 */
export class IntTable {
  readonly #width: number;
  readonly #multipliers: Int32Array;
  #slots: Int32Array;
  #keys: Int32Array;
  #hashes: Int32Array;
  #size = 0;

  /** @param width integers in a key. */
  constructor(width: number) {
    this.#width = width;
    this.#multipliers = Int32Array.from({ length: width }, (_, i) => multiplierOf(i));
    this.#slots = new Int32Array(256).fill(-1);
    this.#keys = new Int32Array(128 * width);
    this.#hashes = new Int32Array(128);
  }

  get size(): number {
    return this.#size;
  }

  /** Index of the key, or -1. O(width). */
  find(key: Int32Array): number {
    const hash = this.#hash(key);
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const index = slots[slot] as number;
      if (index < 0) return -1;
      if (this.#hashes[index] === hash && this.#equals(index, key)) return index;
    }
  }

  /** Adds a new key and returns its index, the former size. Amortised O(width). */
  add(key: Int32Array): number {
    const index = this.#size;
    if ((index + 1) * 2 > this.#slots.length) this.#grow();
    const hash = this.#hash(key);
    this.#keys.set(key, index * this.#width);
    this.#hashes[index] = hash;
    this.#insert(index, hash);
    this.#size = index + 1;
    return index;
  }

  /** The i-th integer of a key. */
  part(index: number, i: number): number {
    return this.#keys[index * this.#width + i] as number;
  }

  /** Forgets all keys and keeps the memory. */
  clear(): void {
    this.#slots.fill(-1);
    this.#size = 0;
  }

  get bytes(): number {
    return this.#slots.byteLength + this.#keys.byteLength + this.#hashes.byteLength;
  }

  #equals(index: number, key: Int32Array): boolean {
    const base = index * this.#width;
    for (let i = 0; i < this.#width; i++) {
      if (this.#keys[base + i] !== key[i]) return false;
    }
    return true;
  }

  #hash(key: Int32Array): number {
    const multipliers = this.#multipliers;
    let hash = 0;
    for (let i = 0; i < multipliers.length; i++) {
      hash = (hash + Math.imul(key[i] as number, multipliers[i] as number)) | 0;
    }
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
    return hash ^ (hash >>> 13);
  }

  #insert(index: number, hash: number): void {
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    while ((this.#slots[slot] as number) >= 0) slot = (slot + 1) & mask;
    this.#slots[slot] = index;
  }

  #grow(): void {
    const capacity = this.#slots.length;
    this.#keys = grown(this.#keys, capacity * this.#width);
    this.#hashes = grown(this.#hashes, capacity);
    this.#slots = new Int32Array(capacity * 2).fill(-1);
    for (let i = 0; i < this.#size; i++) this.#insert(i, this.#hashes[i] as number);
  }
}

/** Odd multiplier of each part of a key, so that the products are independent of each other. */
function multiplierOf(part: number): number {
  return Math.imul(0x9e3779b1, 2 * part + 1) ^ (part << 7);
}
