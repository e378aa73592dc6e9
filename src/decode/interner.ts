import { overflowValue } from '../base/dimensions.ts';
import { grown } from '../base/grown.ts';

const MIN_SLOTS = 1024;
/** Slots above which `clear` frees the table: it was filled by a flood. */
const MAX_KEPT_SLOTS = 1 << 17;
/** Strings that are always held, by their ids. */
const heldBytes = [Buffer.alloc(0), Buffer.from(overflowValue)];

/**
 * Interns strings straight from their bytes as small ids: the hot path compares ids and makes no string. Id 0
 * is the empty string, and strings beyond the capacity have the id of `__other__`. Ids stay valid until
 * `clear`.
 *
 * Open addressing over FNV-1a hashes, linear probing, at most half full. O(length) a look-up.
 */
export class Interner {
  /** Id of `__other__`. */
  static readonly otherId = 1;
  /** Number of times it was cleared: ids are of one generation. */
  generation = 0;
  readonly #capacity: number;
  #slots = new Int32Array(MIN_SLOTS);
  #hashes = new Int32Array(MIN_SLOTS / 2);
  #bytes: Buffer[] = [];
  #texts: string[] = [];

  /** @param capacity maximum number of strings, `__other__` and the empty one included. */
  constructor(capacity: number) {
    this.#capacity = capacity;
    this.clear();
  }

  get size(): number {
    return this.#texts.length;
  }

  /** Removes all strings but the empty one and `__other__`, not while a message is decoded. */
  clear(): void {
    this.generation++;
    if (this.#slots.length > MAX_KEPT_SLOTS) {
      this.#slots = new Int32Array(MIN_SLOTS);
      this.#hashes = new Int32Array(MIN_SLOTS / 2);
    }
    this.#slots.fill(-1);
    this.#bytes = [];
    this.#texts = [];
    for (const bytes of heldBytes) this.#add(bytes, hashOf(bytes, 0, bytes.length));
  }

  /** Id of the UTF-8 string `bytes[start, end)`, or `otherId` if it is new and the interner is full. */
  intern(bytes: Uint8Array, start: number, end: number): number {
    const hash = hashOf(bytes, start, end);
    const id = this.#find(bytes, start, end, hash);
    if (id >= 0) return id;
    if (this.#texts.length >= this.#capacity) return Interner.otherId;
    return this.#add(Buffer.from(bytes.subarray(start, end)), hash);
  }

  /** Id of the string if it is held, else -1: a look-up without side effects. */
  find(bytes: Uint8Array, start: number, end: number): number {
    return this.#find(bytes, start, end, hashOf(bytes, start, end));
  }

  #find(bytes: Uint8Array, start: number, end: number, hash: number): number {
    const mask = this.#slots.length - 1;
    const length = end - start;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const id = this.#slots[slot] as number;
      if (id < 0) return -1;
      if (this.#hashes[id] !== hash) continue;
      const known = this.#bytes[id] as Buffer;
      if (known.length !== length) continue;
      let i = 0;
      while (i < length && known[i] === bytes[start + i]) i++;
      if (i === length) return id;
    }
  }

  internText(text: string): number {
    const bytes = Buffer.from(text, 'utf8');
    return this.intern(bytes, 0, bytes.length);
  }

  text(id: number): string {
    return this.#texts[id] as string;
  }

  /** UTF-8 bytes of an id, read-only. */
  utf8(id: number): Buffer {
    return this.#bytes[id] as Buffer;
  }

  #add(bytes: Buffer, hash: number): number {
    const id = this.#texts.length;
    if ((id + 1) * 2 > this.#slots.length) this.#grow();
    this.#hashes[id] = hash;
    this.#bytes.push(bytes);
    this.#texts.push(bytes.toString('utf8'));
    this.#insert(id, hash);
    return id;
  }

  #insert(id: number, hash: number): void {
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    while ((this.#slots[slot] as number) >= 0) slot = (slot + 1) & mask;
    this.#slots[slot] = id;
  }

  #grow(): void {
    this.#hashes = grown(this.#hashes, this.#slots.length);
    this.#slots = new Int32Array(this.#slots.length * 2).fill(-1);
    for (let id = 0; id < this.#texts.length; id++) this.#insert(id, this.#hashes[id] as number);
  }
}

/** FNV-1a, 32 bits (Fowler, Noll, Vo), with a final mix so that the low bits serve as a slot. */
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ (bytes[i] as number), 0x01000193);
  return hash ^ (hash >>> 15);
}
