/** The reading of one answer, which several clients may wait for. */
export class Work<T> {
  /** Settles when the work has run; never where it is dropped before. */
  readonly result: Promise<T>;
  readonly #run: (signal: AbortSignal) => Promise<T>;
  readonly #over: () => void;
  readonly #cancelling = new AbortController();
  #resolve: (result: Promise<T>) => void = () => undefined;
  #isOver = false;

  /**
   * @param run stops once its signal is aborted
   * @param over called once, when the work has run, is dropped or is cancelled: nobody may join it any more
   */
  constructor(run: (signal: AbortSignal) => Promise<T>, over: () => void = () => undefined) {
    this.#run = run;
    this.#over = over;
    this.result = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    // Nobody may be waiting any more when it fails.
    this.result.catch(() => undefined);
  }

  /** Runs the work; returns when it has ended, however it ended. */
  async start(): Promise<void> {
    const running = (async () => this.#run(this.#cancelling.signal))();
    await running.catch(() => undefined);
    this.#end();
    this.#resolve(running);
  }

  /** Drops work that has not begun, and stops work that runs. */
  cancel(): void {
    this.#end();
    this.#cancelling.abort();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#over();
  }
}
