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
  #kept: Buffer[] = [];
  #keptBytes = 0;
  /** Frames in use by their memory, so that each is returned once. */
  readonly #lent = new WeakMap<ArrayBufferLike, Buffer>();

  /** Returns uninitialized memory for a frame. */
  allocate(bytes: number): Buffer {
    if (bytes < LEAST_BYTES) return Buffer.allocUnsafeSlow(bytes);
    const whole = this.#fitting(bytes) ?? allocate(bytes);
    this.#lent.set(whole.buffer, whole);
    return whole.subarray(0, bytes);
  }

  /** Returns a frame to the pool, by any view of it. It must not be read afterwards. */
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
      // No free frame is large enough. The oldest is dropped to make space for larger ones.
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
