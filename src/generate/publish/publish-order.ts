import { limits } from '../../base/limits.ts';
import { DueQueue } from './due-queue.ts';

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
    this.#waiting.add(item.dueMs, item);
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
      if (next !== undefined) yield next.item;
    }
  }
}
