const NO_BYTES: Buffer = Buffer.alloc(0);

/** A message, of whose memory four or eight bytes are read at once. */
export class MessageView {
  bytes = NO_BYTES;
  /** Another memory has another view. Messages of one fetch share theirs, so a view is made per fetch. */
  view = new DataView<ArrayBufferLike>(new ArrayBuffer(0));
  /** Start of the message in it. */
  base = 0;

  /** Begins a message. */
  begin(message: Buffer): void {
    const { buffer } = message;
    this.bytes = message;
    if (this.view.buffer !== buffer) this.view = new DataView(buffer);
    this.base = message.byteOffset;
  }

  /** Returns true if these words stand at `start` of the message, see `wordsOf`. */
  hasWords(words: Int32Array, start: number, length: number): boolean {
    const { view } = this;
    const offset = this.base + start;
    const last = words.length - 1;
    if (view.getInt32(offset + length - 4, true) !== words[last]) return false;
    for (let i = 0; i < last; i++) {
      if (view.getInt32(offset + i * 4, true) !== words[i]) return false;
    }
    return true;
  }
}

/** The whole words of at least four bytes, and one of the last four: it overlaps the one before. */
export function wordsOf(bytes: Buffer): Int32Array {
  const count = Math.ceil(bytes.length / 4);
  return Int32Array.from({ length: count }, (_, i) =>
    bytes.readInt32LE(Math.min(i * 4, bytes.length - 4)),
  );
}
