import { type MessageView, wordsOf } from './message-view.ts';

const SLOTS = 4_096;
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
  readonly #slots: (Kept<T> | undefined)[] = new Array(SLOTS).fill(undefined);
  #last: Kept<T> | undefined;

  /** @param make makes a value of the bytes at `[start, end)` of the message. */
  constructor(make: (start: number, end: number) => T) {
    this.#make = make;
  }

  /** Returns what is made of the message's bytes at `[start, end)`. O(length). */
  get(message: MessageView, start: number, end: number): T {
    const length = end - start;
    if (length < MIN_BYTES || length > MAX_BYTES) return this.#make(start, end);
    const last = this.#last;
    if (last?.length === length && message.hasWords(last.words, start, length)) return last.value;
    const slot = hashOf(message, start, length) & (SLOTS - 1);
    let kept = this.#slots[slot];
    if (kept?.length !== length || !message.hasWords(kept.words, start, length)) {
      const value = this.#make(start, end);
      kept = { words: wordsOf(message.bytes.subarray(start, end)), length, value };
      this.#slots[slot] = kept;
    }
    this.#last = kept;
    return kept.value;
  }
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
