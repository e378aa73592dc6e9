import type { RecordBatch } from '../source/record.ts';

/**
 * Hands batches of one claim over, one after another, so that the next is fetched while one is being
 * counted. It holds one besides that, and no more: whoever brings a third waits.
 */
export class BatchQueue {
  readonly #handle: (batch: RecordBatch) => Promise<void>;
  #next: RecordBatch | undefined;
  #isHandling = false;
  #freed: () => void = () => undefined;
  /** Resolves when there may be room. */
  room: Promise<void> = Promise.resolve();
  /** Why no batch is handed over any more. */
  failure: unknown;

  constructor(handle: (batch: RecordBatch) => Promise<void>) {
    this.#handle = handle;
  }

  get isFull(): boolean {
    return this.#next !== undefined && this.failure === undefined;
  }

  /** Takes a batch; there must be room. After a failure it is dropped: nothing of it is committed. */
  push(batch: RecordBatch): void {
    this.#next = batch;
    if (!this.#isHandling) {
      void this.#handleAll();
      return;
    }
    this.room = new Promise((resolve) => {
      this.#freed = resolve;
    });
  }

  async #handleAll(): Promise<void> {
    this.#isHandling = true;
    try {
      while (this.#next !== undefined && this.failure === undefined) {
        const batch = this.#next;
        this.#next = undefined;
        this.#freed();
        await this.#handle(batch);
      }
    } catch (error) {
      this.failure = error;
      this.#freed();
    } finally {
      this.#isHandling = false;
    }
  }
}
