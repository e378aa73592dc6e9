/** Shortest key that is found by its hash, which reads ten bytes of it. */
const MIN_HASHED = 10;

/**
 * Finds a known key by its bytes: the index in the list it was made of, or -1. Three words of the key are
 * hashed and all are compared, four bytes at once, so an unknown key costs three reads.
 */
export class KeyTable {
  readonly #mask: number;
  /** Index of a key in each slot, or -1. */
  readonly #slots: Int32Array;
  readonly #lengths: Int32Array;
  readonly #words: readonly Int32Array[];
  /** Keys too short for the hash, with their indices. */
  readonly #short: readonly { readonly bytes: Buffer; readonly index: number }[];

  /** @param keys each once. */
  constructor(keys: readonly string[]) {
    const all = keys.map((key, index) => ({ bytes: Buffer.from(key), index }));
    this.#short = all.filter(({ bytes }) => bytes.length < MIN_HASHED);
    this.#lengths = Int32Array.from(all, ({ bytes }) => bytes.length);
    this.#words = all.map(({ bytes }) => wordsOf(bytes));
    this.#mask = 2 ** Math.ceil(Math.log2(keys.length * 4 + 4)) - 1;
    this.#slots = new Int32Array(this.#mask + 1).fill(-1);
    for (const { bytes, index } of all) {
      if (bytes.length < MIN_HASHED) continue;
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
      let slot = hashOf(view, 0, bytes.length) & this.#mask;
      while ((this.#slots[slot] as number) >= 0) slot = (slot + 1) & this.#mask;
      this.#slots[slot] = index;
    }
  }

  /** Index of the key of `length` bytes at `offset` of the view, or -1. */
  find(view: DataView<ArrayBufferLike>, offset: number, length: number): number {
    if (length < MIN_HASHED) return this.#findShort(view, offset, length);
    const slots = this.#slots;
    for (let slot = hashOf(view, offset, length) & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const index = slots[slot] as number;
      if (index < 0) return -1;
      if (this.#lengths[index] === length && this.#isAt(view, offset, length, index)) return index;
    }
  }

  #isAt(view: DataView<ArrayBufferLike>, offset: number, length: number, index: number): boolean {
    const words = this.#words[index] as Int32Array;
    const last = words.length - 1;
    // The last word overlaps the one before it.
    if (view.getInt32(offset + length - 4, true) !== words[last]) return false;
    for (let i = 0; i < last; i++) {
      if (view.getInt32(offset + i * 4, true) !== words[i]) return false;
    }
    return true;
  }

  #findShort(view: DataView<ArrayBufferLike>, offset: number, length: number): number {
    for (const { bytes, index } of this.#short) {
      if (bytes.length !== length) continue;
      let i = 0;
      while (i < length && view.getUint8(offset + i) === bytes[i]) i++;
      if (i === length) return index;
    }
    return -1;
  }
}

/** The key's whole words, and one of its last four bytes. */
function wordsOf(bytes: Buffer): Int32Array {
  if (bytes.length < MIN_HASHED) return new Int32Array(0);
  const count = Math.ceil(bytes.length / 4);
  return Int32Array.from({ length: count }, (_, i) =>
    bytes.readInt32LE(Math.min(i * 4, bytes.length - 4)),
  );
}

/** Of the first word, the last one, and the one that ends six bytes before the end. */
function hashOf(view: DataView<ArrayBufferLike>, offset: number, length: number): number {
  const end = offset + length;
  const mixed =
    Math.imul(view.getInt32(end - 4, true), 0x9e3779b1) ^
    Math.imul(view.getInt32(end - 10, true) + length, 0x85ebca6b) ^
    view.getInt32(offset, true);
  const hash = Math.imul(mixed, 0xc2b2ae35);
  return hash ^ (hash >>> 15);
}
