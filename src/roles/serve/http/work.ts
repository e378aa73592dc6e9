/** Runs until its signal is aborted; where `isSparing`, others need the server and it takes one thread there. */
export type Run<T> = (signal: AbortSignal, isSparing: boolean) => Promise<T>;

/** The reading of one answer, which several clients may wait for. */
export class Work<T> {
  /** Settles when the work has run; never where it is dropped before. */
  readonly result: Promise<T>;
  readonly #run: Run<T>;
  readonly #over: () => void;
  readonly #cancelling = new AbortController();
  #resolve: (result: Promise<T>) => void = () => undefined;
  #isOver = false;

  /**
   * @param over called once, when the work has run, is dropped or is cancelled: nobody may join it any more
   */
  constructor(run: Run<T>, over: () => void = () => undefined) {
    this.#run = run;
    this.#over = over;
    this.result = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    // Nobody may be waiting any more when it fails.
    this.result.catch(() => undefined);
  }

  /** Runs the work; returns when it has ended, however it ended. */
  async start(isSparing: boolean): Promise<void> {
    const running = (async () => this.#run(this.#cancelling.signal, isSparing))();
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
