import type { Logger } from '../base/log.ts';
import type { Watcher } from './watcher.ts';

export interface WatchLoopOptions {
  readonly intervalMs: number;
  /** Whether `stop` judges once more: of a source that has an end, all is stored by then. */
  readonly judgeAtEnd: boolean;
  readonly log: Logger;
}

/** Failed steps in a row after which the role is not ready. */
const FAILURES_TOLERATED = 3;

/** Steps a watcher at an interval; a step that fails is tried again at the next turn. */
export class WatchLoop {
  readonly #watcher: Watcher;
  readonly #options: WatchLoopOptions;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #stopped = false;
  #failures = 0;
  #lastError = '';

  constructor(watcher: Watcher, options: WatchLoopOptions) {
    this.#watcher = watcher;
    this.#options = options;
  }

  async start(): Promise<void> {
    await this.#watcher.start();
    this.#schedule();
  }

  /** Why the detector does not keep up, if it does not. */
  problems(): string[] {
    if (this.#failures < FAILURES_TOLERATED) return [];
    return [`detect: ${this.#failures} steps in a row have failed: ${this.#lastError}`];
  }

  /** Ends after the step under way and what it has to tell. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
    if (this.#options.judgeAtEnd) await this.#step();
    await this.#watcher.settle().catch(() => undefined);
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#running = this.#step().finally(() => this.#schedule());
    }, this.#options.intervalMs);
  }

  async #step(): Promise<void> {
    try {
      await this.#watcher.step();
      this.#failures = 0;
    } catch (error) {
      this.#failures++;
      this.#lastError = error instanceof Error ? error.message : String(error);
      this.#options.log.warn(
        { err: this.#lastError, failures: this.#failures },
        'a detection step failed and is done again',
      );
    }
  }
}
