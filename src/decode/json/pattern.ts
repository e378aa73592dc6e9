/** Longer than any message, so that a pattern of this length matches nothing. */
const NEVER = 0x7fffffff;
const NOTHING = new Int32Array(0);

/** Bytes to compare with, four at a time. It can be set again without allocation; unset, it never matches. */
export class Pattern {
  /** Id of the value or stage. */
  id = -1;
  length = NEVER;
  /** Whole words from the first byte on, little endian. */
  words: Int32Array = NOTHING;
  wordCount = 0;
  /** Last four bytes, which overlap the last whole word; masked if there are fewer. */
  last = 0;
  lastMask = 0;
  lastOffset = 0;

  constructor(text = '') {
    if (text === '') return;
    const bytes = Buffer.from(text);
    this.set(bytes, 0, bytes.length, -1);
  }

  /** Sets the pattern to `bytes[start, end)` with their id. Allocates only for the longest so far. */
  set(bytes: Uint8Array, start: number, end: number, id: number): void {
    this.id = id;
    this.length = end - start;
    this.wordCount = this.length >> 2;
    if (this.wordCount > this.words.length) this.words = new Int32Array(this.wordCount * 2);
    for (let i = 0; i < this.wordCount; i++) this.words[i] = wordAt(bytes, start + i * 4, 4);
    this.lastOffset = Math.max(0, this.length - 4);
    this.last = wordAt(bytes, start + this.lastOffset, Math.min(4, this.length));
    this.lastMask = this.length >= 4 ? -1 : (1 << (this.length * 8)) - 1;
  }

  toBytes(): Buffer {
    const bytes = Buffer.alloc(this.length);
    for (let i = 0; i < this.length; i++) {
      const word = i >= this.wordCount * 4 ? this.last : (this.words[i >> 2] as number);
      bytes[i] = word >>> ((i >= this.wordCount * 4 ? i - this.lastOffset : i & 3) * 8);
    }
    return bytes;
  }

  /** Matches nothing from now on. */
  forget(): void {
    this.length = NEVER;
  }
}

function wordAt(bytes: Uint8Array, pos: number, byteCount: number): number {
  let word = 0;
  for (let i = 0; i < byteCount; i++) word |= (bytes[pos + i] as number) << (i * 8);
  return word;
}
