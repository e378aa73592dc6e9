/** Smaller frames cost little to make and are nobody's to give back. */
const LEAST_BYTES = 256 * 1024;
/** Memory is taken in multiples of this, so that frames of about one length can take one another's. */
const STEP_BYTES = 1024 * 1024;
/** Frames at rest, and bytes of them, that are kept. */
const MOST_KEPT = 4;
const MOST_KEPT_BYTES = 64 * 1024 * 1024;

/**
 * Memory of large frames, used over and over. Left to the garbage collector, each fetch of ten
 * megabytes brings a collection of the whole heap nearer, and fresh pages to fill.
 *
 * What is never given back is collected as ever.
 */
export class FramePool {
  #kept: Buffer[] = [];
  #keptBytes = 0;
  /** What is lent, by its memory: only that is taken back, and once. */
  readonly #lent = new WeakMap<ArrayBufferLike, Buffer>();

  /** Memory for a frame of so many bytes, with anything in it. */
  allocate(bytes: number): Buffer {
    if (bytes < LEAST_BYTES) return Buffer.allocUnsafeSlow(bytes);
    const whole = this.#fitting(bytes) ?? allocate(bytes);
    this.#lent.set(whole.buffer, whole);
    return whole.subarray(0, bytes);
  }

  /** Takes a frame back, by any view of it: nobody may look at it any more. */
  give(view: Buffer): void {
    const whole = this.#lent.get(view.buffer);
    if (whole === undefined) return;
    this.#lent.delete(view.buffer);
    if (this.#kept.length >= MOST_KEPT) return;
    if (this.#keptBytes + whole.length > MOST_KEPT_BYTES) return;
    this.#kept.push(whole);
    this.#keptBytes += whole.length;
  }

  #fitting(bytes: number): Buffer | undefined {
    const at = this.#kept.findIndex(({ length }) => length >= bytes);
    if (at < 0) {
      // None is large enough: the next ones will be, so the oldest makes room for them.
      const dropped = this.#kept.shift();
      this.#keptBytes -= dropped?.length ?? 0;
      return undefined;
    }
    const [found] = this.#kept.splice(at, 1);
    this.#keptBytes -= found?.length ?? 0;
    return found;
  }
}

function allocate(bytes: number): Buffer {
  return Buffer.allocUnsafeSlow(Math.ceil(bytes / STEP_BYTES) * STEP_BYTES);
}
