const NONE = -1;

/**
 * A queue of slots, which are small whole numbers, each in it once at most. A slot can be removed from its
 * middle. Every operation is O(1), and none makes work for the garbage collector.
 */
export class SlotQueue {
  #before = new Int32Array(0);
  #after = new Int32Array(0);
  #first = NONE;
  #last = NONE;
  #size = 0;

  /** The first slot, -1 where there is none. */
  get first(): number {
    return this.#first;
  }

  get size(): number {
    return this.#size;
  }

  /** Makes room for slots below `count`. */
  grow(count: number): void {
    const before = new Int32Array(count);
    const after = new Int32Array(count);
    before.set(this.#before);
    after.set(this.#after);
    this.#before = before;
    this.#after = after;
  }

  /** Adds a slot that is not in it. */
  push(slot: number): void {
    this.#before[slot] = this.#last;
    this.#after[slot] = NONE;
    if (this.#last === NONE) this.#first = slot;
    else this.#after[this.#last] = slot;
    this.#last = slot;
    this.#size++;
  }

  /** Removes a slot that is in it. */
  remove(slot: number): void {
    const before = this.#before[slot] as number;
    const after = this.#after[slot] as number;
    if (before === NONE) this.#first = after;
    else this.#after[before] = after;
    if (after === NONE) this.#last = before;
    else this.#before[after] = before;
    this.#size--;
  }

  /** Moves a slot that is in it to its end. */
  touch(slot: number): void {
    if (slot === this.#last) return;
    this.remove(slot);
    this.push(slot);
  }
}
