import type { RecordBatch } from '../source/record.ts';

/** Handles batches of a claim in order. Holds one more, so that the broker works meanwhile. */
export class BatchQueue {
  readonly #handle: (batch: RecordBatch) => Promise<void>;
  #next: RecordBatch | undefined;
  #isHandling = false;
  #onFreed: () => void = () => undefined;
  #handling: Promise<void> = Promise.resolve();
  /** Resolves when the queue may accept a batch. */
  freed: Promise<void> = Promise.resolve();
  failure: unknown;

  constructor(handle: (batch: RecordBatch) => Promise<void>) {
    this.#handle = handle;
  }

  get isFull(): boolean {
    return this.#next !== undefined && this.failure === undefined;
  }

  /** Resolves when all of it is handled, or a batch has failed. */
  get idle(): Promise<void> {
    return this.#handling;
  }

  /** Adds a batch; the queue must not be full. After a failure the batch is dropped uncommitted. */
  push(batch: RecordBatch): void {
    this.#next = batch;
    if (!this.#isHandling) {
      this.#handling = this.#handleAll();
      return;
    }
    this.freed = new Promise((resolve) => {
      this.#onFreed = resolve;
    });
  }

  async #handleAll(): Promise<void> {
    this.#isHandling = true;
    try {
      while (this.#next !== undefined && this.failure === undefined) {
        const batch = this.#next;
        this.#next = undefined;
        this.#onFreed();
        await this.#handle(batch);
      }
    } catch (error) {
      this.failure = error;
      this.#onFreed();
    } finally {
      this.#isHandling = false;
    }
  }
}
