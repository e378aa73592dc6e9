import type { FramePool } from './frame-pool.ts';

/** A larger length means that the peer does not speak Kafka's protocol. */
const MAX_FRAME_BYTES = 256 * 1024 * 1024;
const LENGTH_BYTES = 4;
/** Bytes per read while the frame's length is unknown. */
const READ_BYTES = 64 * 1024;

/**
 * Assembles frames of Kafka's protocol from socket reads. A frame is a length (int32, big endian) and as many
 * bytes. The rest of a long frame is read directly into its place.
 *
 * The caller reads into `readTarget()` and reports the number of bytes to `received`.
 */
export class FrameAssembler {
  readonly #pool: FramePool;
  readonly #onFrame: (frame: Buffer) => void;
  readonly #read = Buffer.allocUnsafeSlow(READ_BYTES);
  readonly #length = Buffer.alloc(LENGTH_BYTES);
  #lengthBytes = 0;
  #frame: Buffer | undefined;
  #filled = 0;
  /** The stream has no valid frames: bytes are passed on as they arrive, and kafkajs reports the error. */
  #isBroken = false;

  /** @param onFrame receives each whole frame with its length; it may give the frame back to the pool. */
  constructor(pool: FramePool, onFrame: (frame: Buffer) => void) {
    this.#pool = pool;
    this.#onFrame = onFrame;
  }

  /** Returns the buffer to read into: never empty, valid until the next `received`. */
  readTarget(): Buffer {
    return this.#isFillingFrame() ? (this.#frame as Buffer).subarray(this.#filled) : this.#read;
  }

  received(count: number): void {
    if (this.#isFillingFrame()) {
      this.#filled += count;
      this.#endIfFull();
      return;
    }
    for (let at = 0; at < count; ) {
      if (this.#isBroken) {
        this.#onFrame(Buffer.from(this.#read.subarray(at, count)));
        return;
      }
      if (this.#frame === undefined) at = this.#begin(at, count);
      else at = this.#fill(this.#frame, at, count);
    }
  }

  #isFillingFrame(): boolean {
    return this.#frame !== undefined && this.#frame.length - this.#filled >= READ_BYTES;
  }

  #begin(start: number, count: number): number {
    let at = start;
    while (this.#lengthBytes < LENGTH_BYTES && at < count) {
      this.#length[this.#lengthBytes++] = this.#read[at++] as number;
    }
    if (this.#lengthBytes < LENGTH_BYTES) return at;
    this.#lengthBytes = 0;
    const length = this.#length.readInt32BE(0);
    if (length <= 0 || length > MAX_FRAME_BYTES) {
      this.#isBroken = true;
      this.#onFrame(Buffer.from(this.#length));
      return at;
    }
    this.#frame = this.#pool.allocate(LENGTH_BYTES + length);
    this.#length.copy(this.#frame);
    this.#filled = LENGTH_BYTES;
    return at;
  }

  #fill(frame: Buffer, start: number, count: number): number {
    const end = Math.min(count, start + frame.length - this.#filled);
    this.#read.copy(frame, this.#filled, start, end);
    this.#filled += end - start;
    this.#endIfFull();
    return end;
  }

  #endIfFull(): void {
    const frame = this.#frame;
    if (frame === undefined || this.#filled < frame.length) return;
    this.#frame = undefined;
    this.#onFrame(frame);
  }
}
