import { systemClock } from '../../../base/clock.ts';
import { Problem } from './problem.ts';

/** Requests that may read from ClickHouse at once, and that may wait. */
const maxRunning = 4;
const maxWaiting = 32;
/** Longest wait for an answer: Argo, Flagger and KEDA give up after ten seconds or less. */
const deadlineMs = 8_000;

/** Limits how many requests run at once; refuses those beyond the ones that may wait. */
export class Turnstile {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  /**
   * Work that takes too long keeps its place until it ends.
   *
   * @throws Problem 503 when too many wait, or when the answer takes too long.
   */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const running = this.#inTurn(work);
    running.catch(() => undefined);
    const isOver = new AbortController();
    const late = systemClock.sleep(deadlineMs, isOver.signal).then(() => {
      if (isOver.signal.aborted) return undefined as never;
      throw new Problem(503, `ClickHouse has not answered within ${deadlineMs / 1000} s.`, 10);
    });
    late.catch(() => undefined);
    try {
      return await Promise.race([running, late]);
    } finally {
      isOver.abort();
    }
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
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
