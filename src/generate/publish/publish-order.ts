import { limits } from '../../base/limits.ts';
import { DueQueue } from './due-queue.ts';

/** Something that begins, and is published later. */
export interface Publishable {
  readonly startMs: number;
  /** Not before `startMs`. */
  readonly dueMs: number;
}

/**
 * Puts items that come in order of their start, as a generator or a recording has them, into the order in
 * which they are published. An item waits until one begins later than it is due.
 *
 * At most `most` items wait. Beyond, the one that is due first is handed on: an item that begins later and is
 * due earlier then comes after it, so it is published late, and none is published before it is due.
 */
export class PublishOrder<T extends Publishable> {
  readonly #most: number;
  readonly #waiting = new DueQueue<T>();
  #reachedMs = Number.NEGATIVE_INFINITY;

  constructor(most: number = limits.heldEvents) {
    this.#most = most;
  }

  /** Takes the next item; gives those that are due before it can be. */
  *push(item: T): Generator<T, void> {
    this.#reachedMs = Math.max(this.#reachedMs, item.startMs);
    this.#waiting.add(item.dueMs, item);
    yield* this.#until(this.#reachedMs, this.#most);
  }

  /** The rest, in order. */
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
