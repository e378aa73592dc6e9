import { limits } from '../../base/limits.ts';

/**
 * Memory of all open chunks of a process. A chunk may use what the others leave, and an equal share in any
 * case. So where one partition is busy and the others are not, its chunk has nearly all.
 */
export class OpenMemory {
  readonly #mostBytes: number;
  #bytes = 0;
  #chunks = 0;

  constructor(mostBytes: number = limits.openBytes) {
    this.#mostBytes = mostBytes;
  }

  /** Returns the part of one partition's open chunk. */
  part(): MemoryPart {
    this.#chunks++;
    return new MemoryPart(this);
  }

  /** True for a chunk of this number of bytes where no more are left for it. */
  isUsedUp(bytes: number): boolean {
    return this.#bytes >= this.#mostBytes && bytes >= this.#mostBytes / this.#chunks;
  }

  change(bytes: number): void {
    this.#bytes += bytes;
  }

  close(): void {
    this.#chunks--;
  }
}

/** Part of an open chunk: none while it is empty. */
export class MemoryPart {
  readonly #memory: OpenMemory;
  #bytes = 0;
  #isClosed = false;

  constructor(memory: OpenMemory) {
    this.#memory = memory;
  }

  /** Notes the bytes in use. */
  use(bytes: number): void {
    if (bytes === this.#bytes || this.#isClosed) return;
    this.#memory.change(bytes - this.#bytes);
    this.#bytes = bytes;
  }

  /** True where the chunk must be sealed for its memory. */
  get isUsedUp(): boolean {
    return this.#memory.isUsedUp(this.#bytes);
  }

  /** Gives everything back: the partition is another member's. */
  close(): void {
    if (this.#isClosed) return;
    this.use(0);
    this.#isClosed = true;
    this.#memory.close();
  }
}
