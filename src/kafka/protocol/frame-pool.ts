/** Smaller frames are cheap to allocate and are not pooled. */
const LEAST_BYTES = 256 * 1024;
/** Allocation granularity: frames of similar lengths can reuse each other's memory. */
const STEP_BYTES = 1024 * 1024;
/** Limits of the free frames: count and bytes. */
const MOST_KEPT = 4;
const MOST_KEPT_BYTES = 64 * 1024 * 1024;

/**
 * Reuses the memory of large frames. Without it each fetch of ten megabytes causes garbage collections of the
 * whole heap and fresh pages. Frames that are never given back are garbage-collected.
 */
export class FramePool {
  readonly #kept: Buffer[] = [];
  /** Frames in use by their memory, so that each is returned once. */
  readonly #lent = new WeakMap<ArrayBufferLike, Buffer>();

  /** Returns uninitialized memory for a frame. */
  allocate(bytes: number): Buffer {
    if (bytes < LEAST_BYTES) return Buffer.allocUnsafeSlow(bytes);
    const roundedBytes = Math.ceil(bytes / STEP_BYTES) * STEP_BYTES;
    const whole = this.#fitting(bytes) ?? Buffer.allocUnsafeSlow(roundedBytes);
    this.#lent.set(whole.buffer, whole);
    return whole.subarray(0, bytes);
  }

  /** Returns a frame to the pool, by any view of it. It must not be read afterwards. */
  give(view: Buffer): void {
    const whole = this.#lent.get(view.buffer);
    if (whole === undefined) return;
    this.#lent.delete(view.buffer);
    const bytes = this.#kept.reduce((sum, { length }) => sum + length, whole.length);
    if (this.#kept.length < MOST_KEPT && bytes <= MOST_KEPT_BYTES) this.#kept.push(whole);
  }

  #fitting(bytes: number): Buffer | undefined {
    const index = this.#kept.findIndex(({ length }) => length >= bytes);
    // The oldest frame is dropped where no free one is large enough, to make space for larger ones.
    const [frame] = this.#kept.splice(Math.max(0, index), 1);
    return index < 0 ? undefined : frame;
  }
}
