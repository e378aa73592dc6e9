/**
 * Orders items by their due time, those of one time as they were added. A binary heap: O(log n) an item, and
 * memory for those that wait.
 */
export class DueQueue<T> {
  readonly #heap: Waiting<T>[] = [];
  #added = 0;

  get size(): number {
    return this.#heap.length;
  }

  /** Time at which the next item is due; infinite where none waits. */
  get nextDueMs(): number {
    return this.#heap[0]?.dueMs ?? Number.POSITIVE_INFINITY;
  }

  add(dueMs: number, item: T): void {
    const heap = this.#heap;
    const added = { dueMs, order: this.#added++, item };
    let at = heap.length;
    for (; at > 0; ) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] as Waiting<T>;
      if (!isBefore(added, above)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = added;
  }

  /** Removes the item that is due first; undefined where none waits. */
  pop(): { readonly dueMs: number; readonly item: T } | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      if (left >= heap.length) break;
      const right = left + 1;
      const isRight =
        right < heap.length && isBefore(heap[right] as Waiting<T>, heap[left] as Waiting<T>);
      const child = isRight ? right : left;
      const below = heap[child] as Waiting<T>;
      if (!isBefore(below, last)) break;
      heap[at] = below;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

interface Waiting<T> {
  readonly dueMs: number;
  readonly order: number;
  readonly item: T;
}

function isBefore<T>(a: Waiting<T>, b: Waiting<T>): boolean {
  return a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order);
}
