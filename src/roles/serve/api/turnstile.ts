import { Problem } from './problem.ts';

/** Requests that may read from ClickHouse at once, and that may wait. */
const maxRunning = 4;
const maxWaiting = 32;

/** Limits how many requests run at once; refuses those beyond the ones that may wait. */
export class Turnstile {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  /** @throws Problem 503 when too many wait. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < maxRunning) this.#running++;
    else {
      if (this.#waiting.length >= maxWaiting) {
        throw new Problem(503, 'Too many requests wait for ClickHouse: ask again later.', 5);
      }
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    }
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }
}
