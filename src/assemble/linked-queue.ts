/** A place in a queue. It is in one queue at most. */
export interface QueueNode<T> {
  readonly value: T;
  before: QueueNode<T> | undefined;
  after: QueueNode<T> | undefined;
}

export function queueNode<T>(value: T): QueueNode<T> {
  return { value, before: undefined, after: undefined };
}

/** A queue from the middle of which nodes can be removed. Every operation is O(1). */
export class LinkedQueue<T> {
  #first: QueueNode<T> | undefined;
  #last: QueueNode<T> | undefined;
  #size = 0;

  get first(): T | undefined {
    return this.#first?.value;
  }

  get size(): number {
    return this.#size;
  }

  /** Adds a node that is in no queue. */
  push(node: QueueNode<T>): void {
    node.before = this.#last;
    node.after = undefined;
    if (this.#last === undefined) this.#first = node;
    else this.#last.after = node;
    this.#last = node;
    this.#size++;
  }

  /** Removes a node of this queue. */
  remove(node: QueueNode<T>): void {
    const { before, after } = node;
    if (before === undefined) this.#first = after;
    else before.after = after;
    if (after === undefined) this.#last = before;
    else after.before = before;
    node.before = undefined;
    node.after = undefined;
    this.#size--;
  }

  /** Moves a node of this queue to its end. */
  touch(node: QueueNode<T>): void {
    if (node === this.#last) return;
    this.remove(node);
    this.push(node);
  }
}
