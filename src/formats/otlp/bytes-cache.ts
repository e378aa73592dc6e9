import { type MessageView, wordsOf } from './message-view.ts';

/** Values that are kept at most, by default. */
const MAX_KEPT = 4_096;
/** Bytes of the shortest and the longest ones that are kept. */
const MIN_BYTES = 4;
const MAX_BYTES = 4_096;

interface Kept<T> {
  readonly words: Int32Array;
  readonly length: number;
  readonly value: T;
}

/**
 * Values made of bytes that come again and again, by the bytes: a process writes the same resource over and
 * over. It keeps the last of two with one hash.
 */
export class BytesCache<T> {
  readonly #make: (start: number, end: number) => T;
  readonly #slots: (Kept<T> | undefined)[];
  #last: Kept<T> | undefined;

  /**
   * @param make makes a value of the bytes at `[start, end)` of the message.
   * @param maxKept a power of two.
   */
  constructor(make: (start: number, end: number) => T, maxKept = MAX_KEPT) {
    this.#make = make;
    this.#slots = new Array(maxKept).fill(undefined);
  }

  /** Returns what is made of the message's bytes at `[start, end)`. O(length). */
  get(message: MessageView, start: number, end: number): T {
    const length = end - start;
    if (length < MIN_BYTES || length > MAX_BYTES) return this.#make(start, end);
    return this.#find(message, start, length).value;
  }

  /** The same of bytes that are mostly those of the last call. */
  again(message: MessageView, start: number, end: number): T {
    const length = end - start;
    if (length < MIN_BYTES || length > MAX_BYTES) return this.#make(start, end);
    const last = this.#last;
    if (last !== undefined && isSame(last, message, start, length)) return last.value;
    this.#last = this.#find(message, start, length);
    return this.#last.value;
  }

  #find(message: MessageView, start: number, length: number): Kept<T> {
    const slot = hashOf(message, start, length) & (this.#slots.length - 1);
    const kept = this.#slots[slot];
    if (kept !== undefined && isSame(kept, message, start, length)) return kept;
    const value = this.#make(start, start + length);
    const words = wordsOf(message.bytes.subarray(start, start + length));
    const made = { words, length, value };
    this.#slots[slot] = made;
    return made;
  }
}

function isSame(kept: Kept<unknown>, message: MessageView, start: number, length: number): boolean {
  return kept.length === length && message.hasWords(kept.words, start, length);
}

function hashOf({ view, base }: MessageView, start: number, length: number): number {
  const last = base + start + length - 4;
  let hash = view.getInt32(last, true) ^ length;
  for (let at = base + start; at < last; at += 4) {
    hash = Math.imul(hash ^ view.getInt32(at, true), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  return hash;
}
