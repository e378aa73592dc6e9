const SLOTS = 4_096;
/** Bytes of the longest text that is kept. */
const MAX_BYTES = 4_096;

interface KeptText {
  readonly bytes: Uint8Array;
  readonly text: string;
}

/** Makes texts of bytes. One that it has seen costs no memory, if no other one has its hash since. */
export class TextCache {
  readonly #slots: (KeptText | undefined)[] = new Array(SLOTS).fill(undefined);

  /** Returns the text at `[start, end)`; what is no UTF-8 becomes U+FFFD. O(length). */
  text(bytes: Buffer, start: number, end: number): string {
    const length = end - start;
    if (length > MAX_BYTES) return bytes.toString('utf8', start, end);
    let hash = length;
    for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + (bytes[at] as number)) | 0;
    const slot = hash & (SLOTS - 1);
    const known = this.#slots[slot];
    if (known !== undefined && areEqual(known.bytes, bytes, start, length)) return known.text;
    const text = bytes.toString('utf8', start, end);
    this.#slots[slot] = { bytes: Uint8Array.from(bytes.subarray(start, end)), text };
    return text;
  }
}

function areEqual(known: Uint8Array, bytes: Uint8Array, start: number, length: number): boolean {
  if (known.length !== length) return false;
  for (let i = 0; i < length; i++) if (known[i] !== bytes[start + i]) return false;
  return true;
}
