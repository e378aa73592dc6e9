/**
 * Bytes to compare with, four at a time. It can be set anew, so that what was last seen is kept
 * without allocating.
 */
export class Pattern {
  /** Bytes in all. */
  length = 0;
  /** The whole words from the first byte on, little endian. */
  readonly words: Int32Array;
  wordCount = 0;
  /** The last four bytes, which overlap the last whole word; masked if there are fewer. */
  last = 0;
  lastMask = 0;
  lastOffset = 0;

  /** @param maxBytes longest pattern it will hold. */
  constructor(maxBytes: number, text = '') {
    this.words = new Int32Array(Math.ceil(maxBytes / 4));
    const bytes = Buffer.from(text);
    this.set(bytes, 0, bytes.length);
  }

  /** Takes `bytes[start, end)`, which are at most as many as the constructor was told. */
  set(bytes: Uint8Array, start: number, end: number): void {
    this.length = end - start;
    this.wordCount = this.length >> 2;
    for (let i = 0; i < this.wordCount; i++) this.words[i] = wordAt(bytes, start + i * 4, 4);
    this.lastOffset = Math.max(0, this.length - 4);
    this.last = wordAt(bytes, start + this.lastOffset, Math.min(4, this.length));
    this.lastMask = this.length >= 4 ? -1 : (1 << (this.length * 8)) - 1;
  }
}

function wordAt(bytes: Uint8Array, pos: number, byteCount: number): number {
  let word = 0;
  for (let i = 0; i < byteCount; i++) word |= (bytes[pos + i] as number) << (i * 8);
  return word;
}
