import type { Clock } from '../../base/clock.ts';
import type { DeliveryRow } from '../../sink/anomalies/delivery-store.ts';

export interface DeliveryLogOptions {
  readonly add: (rows: readonly DeliveryRow[]) => Promise<void>;
  readonly clock: Pick<Clock, 'sleep'>;
  /** Called when rows cannot be stored, once an outage. */
  readonly onFailure: (error: unknown) => void;
  /** Called when the log is full and forgets its oldest row. */
  readonly onLost: () => void;
}

/** Rows that wait for ClickHouse. The oldest is forgotten beyond that: its event may be delivered twice. */
const maxWaiting = 10_000;
/** Pause after a failed insert. */
const retryMs = 1_000;

/** Stores outcomes in the order they came, in blocks, and goes on trying while ClickHouse is away. */
export class DeliveryLog {
  readonly #options: DeliveryLogOptions;
  #waiting: DeliveryRow[] = [];
  /** Rows that were added, and that were stored or forgotten. */
  #added = 0;
  #stored = 0;
  readonly #waiters: (() => void)[] = [];
  #running: Promise<void> | undefined;
  #isFailing = false;
  #isEnding = false;

  constructor(options: DeliveryLogOptions) {
    this.#options = options;
  }

  add(row: DeliveryRow): void {
    this.#waiting.push(row);
    this.#added++;
    if (this.#waiting.length > maxWaiting) {
      this.#waiting.shift();
      this.#stored++;
      this.#options.onLost();
    }
    this.#running ??= this.#run();
  }

  /** Resolves when every row that was added so far is stored, or at once while ClickHouse is away. */
  async recorded(): Promise<void> {
    const target = this.#added;
    while (this.#stored < target && !this.#isFailing) {
      await new Promise<void>((resolve) => {
        this.#waiters.push(resolve);
      });
    }
  }

  /** Ends the retries; what is waiting is tried once more. */
  async end(): Promise<void> {
    this.#isEnding = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const rows = this.#waiting;
      this.#waiting = [];
      const isStored = await this.#store(rows);
      for (const wake of this.#waiters.splice(0)) wake();
      if (isStored) continue;
      this.#waiting = [...rows, ...this.#waiting];
      if (this.#isEnding) break;
      await this.#options.clock.sleep(retryMs);
    }
    this.#running = undefined;
  }

  async #store(rows: readonly DeliveryRow[]): Promise<boolean> {
    try {
      await this.#options.add(rows);
      this.#stored += rows.length;
      this.#isFailing = false;
      return true;
    } catch (error) {
      if (!this.#isFailing) this.#options.onFailure(error);
      this.#isFailing = true;
      return false;
    }
  }
}
