import { type MessageView, wordsOf } from './message-view.ts';

/** Shortest key that is found by its hash, which reads ten bytes of it. */
const MIN_HASHED = 10;
const NO_WORDS = new Int32Array(0);

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
    this.#words = all.map(({ bytes }) => (bytes.length < MIN_HASHED ? NO_WORDS : wordsOf(bytes)));
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

  /**
   * Index of the key of `length` bytes at `start` of the message, or -1.
   *
   * @param guess index that is compared first, unhashed; -1 for none.
   */
  find(message: MessageView, start: number, length: number, guess = -1): number {
    if (length < MIN_HASHED) return this.#findShort(message, start, length);
    if (guess >= 0 && this.#isAt(message, start, length, guess)) return guess;
    const slots = this.#slots;
    const hash = hashOf(message.view, message.base + start, length);
    for (let slot = hash & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const index = slots[slot] as number;
      if (index < 0 || this.#isAt(message, start, length, index)) return index;
    }
  }

  #isAt(message: MessageView, start: number, length: number, index: number): boolean {
    if (this.#lengths[index] !== length) return false;
    return message.hasWords(this.#words[index] as Int32Array, start, length);
  }

  #findShort({ view, base }: MessageView, start: number, length: number): number {
    for (const { bytes, index } of this.#short) {
      if (bytes.length !== length) continue;
      let i = 0;
      while (i < length && view.getUint8(base + start + i) === bytes[i]) i++;
      if (i === length) return index;
    }
    return -1;
  }
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
