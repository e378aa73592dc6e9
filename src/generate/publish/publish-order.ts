import { limits } from '../../base/limits.ts';

/** An item that starts at one time and is published later. */
export interface Publishable {
  readonly startMs: number;
  /** Not before `startMs`. */
  readonly dueMs: number;
}

/**
 * Reorders items from the order of their starts (of a generator or a recording) into the order in which they
 * are published. An item waits until another one starts later than it is due.
 *
 * At most `most` items wait. Beyond that, the item that is due first is emitted early in the sequence. An
 * item that starts later and is due earlier then follows it. No item is published before it is due.
 */
export class PublishOrder<T extends Publishable> {
  readonly #most: number;
  readonly #waiting = new DueQueue<T>();
  #reachedMs = Number.NEGATIVE_INFINITY;

  constructor(most: number = limits.heldEvents) {
    this.#most = most;
  }

  /** Adds the next item; yields those that are due before any later one can be. */
  *push(item: T): Generator<T, void> {
    this.#reachedMs = Math.max(this.#reachedMs, item.startMs);
    this.#waiting.add(item);
    yield* this.#until(this.#reachedMs, this.#most);
  }

  /** Yields the rest, in order. */
  *drain(): Generator<T, void> {
    yield* this.#until(Number.POSITIVE_INFINITY, 0);
  }

  *#until(reachedMs: number, most: number): Generator<T, void> {
    const waiting = this.#waiting;
    while (waiting.size > 0 && (waiting.nextDueMs < reachedMs || waiting.size > most)) {
      const next = waiting.pop();
      if (next !== undefined) yield next;
    }
  }
}

/** Items by their due time, those of one time as they were added: a binary heap. */
export class DueQueue<T extends Pick<Publishable, 'dueMs'>> {
  readonly #heap: Waiting<T>[] = [];
  #added = 0;

  get size(): number {
    return this.#heap.length;
  }

  /** Time at which the next item is due; infinite where none waits. */
  get nextDueMs(): number {
    return this.#heap[0]?.item.dueMs ?? Number.POSITIVE_INFINITY;
  }

  /** O(log n). */
  add(item: T): void {
    const heap = this.#heap;
    const added = { order: this.#added++, item };
    let at = heap.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] as Waiting<T>;
      if (!isBefore(added, above)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = added;
  }

  /** Removes the item that is due first; undefined where none waits. O(log n). */
  pop(): T | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return first?.item;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      const right = heap[child + 1];
      if (right !== undefined && isBefore(right, heap[child] as Waiting<T>)) child++;
      const below = heap[child] as Waiting<T>;
      if (!isBefore(below, last)) break;
      heap[at] = below;
      at = child;
    }
    heap[at] = last;
    return first?.item;
  }
}

interface Waiting<T> {
  readonly order: number;
  readonly item: T;
}

type Due = Waiting<Pick<Publishable, 'dueMs'>>;

function isBefore(a: Due, b: Due): boolean {
  return a.item.dueMs < b.item.dueMs || (a.item.dueMs === b.item.dueMs && a.order < b.order);
}
