/** Larger answers than any that is asked for: what says so does not speak Kafka's protocol. */
const MAX_FRAME_BYTES = 256 * 1024 * 1024;
const LENGTH_BYTES = 4;

/**
 * Puts the frames of Kafka's protocol together out of what a socket reads, each in memory of its
 * own: a frame is a length (int32, big endian) and as many bytes. Every byte is copied once.
 */
export class FrameAssembler {
  readonly #onFrame: (frame: Buffer) => void;
  readonly #length = Buffer.alloc(LENGTH_BYTES);
  #lengthBytes = 0;
  #frame: Buffer | undefined;
  #filled = 0;
  /** What comes is not in frames: it is handed on as it comes, for others to find out. */
  #isBroken = false;

  /** @param onFrame takes each whole frame, its length included, and may keep it. */
  constructor(onFrame: (frame: Buffer) => void) {
    this.#onFrame = onFrame;
  }

  /** Takes what was read; it may be overwritten afterwards. */
  take(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      if (this.#isBroken) {
        this.#onFrame(Buffer.from(bytes.subarray(at)));
        return;
      }
      if (this.#frame === undefined) at = this.#begin(bytes, at);
      else at = this.#fill(this.#frame, bytes, at);
    }
  }

  #begin(bytes: Uint8Array, start: number): number {
    let at = start;
    while (this.#lengthBytes < LENGTH_BYTES && at < bytes.length) {
      this.#length[this.#lengthBytes++] = bytes[at++] as number;
    }
    if (this.#lengthBytes < LENGTH_BYTES) return at;
    this.#lengthBytes = 0;
    const length = this.#length.readInt32BE(0);
    if (length <= 0 || length > MAX_FRAME_BYTES) {
      this.#isBroken = true;
      this.#onFrame(Buffer.from(this.#length));
      return at;
    }
    this.#frame = Buffer.allocUnsafeSlow(LENGTH_BYTES + length);
    this.#length.copy(this.#frame);
    this.#filled = LENGTH_BYTES;
    return at;
  }

  #fill(frame: Buffer, bytes: Uint8Array, start: number): number {
    const end = Math.min(bytes.length, start + frame.length - this.#filled);
    frame.set(
      start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end),
      this.#filled,
    );
    this.#filled += end - start;
    if (this.#filled === frame.length) {
      this.#frame = undefined;
      this.#onFrame(frame);
    }
    return end;
  }
}
