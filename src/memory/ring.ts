import type { StateArchive } from '../snapshot/archive.ts';
import { Arena } from './arena.ts';

/**
 * The last of some entries, each of a few numbers: side by side in `StateMemory`, where an object each would lie
 * anywhere. What is newer than there is room for takes the place of the oldest.
 *
 * Memory: 8 bytes a number. Cost: some nanoseconds an entry.
 */
export class NumberRing {
  readonly #at: number;
  readonly #fields: number;
  readonly #most: number;
  /** The slot of the next entry. */
  #next = 0;
  #length = 0;

  /**
   * @param fields numbers of an entry.
   * @param most entries that are kept.
   */
  constructor(fields: number, most: number) {
    this.#at = Arena.shared().allocateFor(this, fields * most);
    this.#fields = fields;
    this.#most = most;
  }

  get length(): number {
    return this.#length;
  }

  /** Where a new entry lies in the memory: its numbers are to be set, they may be those of another one. */
  push(): number {
    const slot = this.#next;
    this.#next = slot + 1 === this.#most ? 0 : slot + 1;
    if (this.#length < this.#most) this.#length += 1;
    return this.#at + this.#fields * slot;
  }

  /** Where an entry lies, counted from the newest: 1 for that, `length` for the oldest. */
  offsetBack(n: number): number {
    const slot = this.#next - n;
    return this.#at + this.#fields * (slot < 0 ? slot + this.#most : slot);
  }

  /** Where the last so many entries lie, as far as there are so many, oldest first. */
  lastOffsets(n: number): number[] {
    const windows = Math.min(n, this.#length);
    return Array.from({ length: windows }, (_, i) => this.offsetBack(windows - i));
  }

  /** The slot that an entry is in, below the most that are kept: what is not a number is kept by it. */
  slotOf(place: number): number {
    return (place - this.#at) / this.#fields;
  }

  /** Forgets the oldest entry. */
  dropOldest(): void {
    this.#length -= 1;
  }

  /** @param serializeEntry is given where an entry lies: takes up what is there, or puts it there. */
  serializeEach(state: StateArchive, serializeEntry: (at: number) => void): void {
    state.list(this.lastOffsets(this.#length), (place) => {
      const at = place ?? this.push();
      serializeEntry(at);
      return at;
    });
  }
}
