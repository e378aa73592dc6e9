/** What becomes of something that a process asks of the world. */
export interface Fate {
  /**
   * `holds`: it is done and answered. `fails`: an error comes back. `dies`: the process is gone.
   * `moves`: the group gives the partition to another process. `waits`: the same, and the asking
   * process, which knows nothing of it, gets its turn again some time later.
   */
  readonly kind: 'holds' | 'fails' | 'dies' | 'moves' | 'waits';
  /** How much of the effect has happened by then: 0 none, 1 all of it, between: some tables. */
  readonly share: number;
}

/** Something asked and not yet answered. */
export interface Op {
  readonly process: number;
  readonly name: string;
  readonly apply: (share: number) => void;
  readonly answer: () => void;
  readonly refuse: (error: unknown) => void;
}

/** A failure that was made, as distinct from one that happened. */
export class MadeFailure extends Error {
  override readonly name = 'MadeFailure';
}

/**
 * All that processes wait for. Nothing happens by itself: whoever runs the world takes one open
 * question after another, in any order, and says what becomes of it. The same choices give the same
 * run, to the last microtask. Time moves a millisecond with each question that is taken.
 */
export class FakeWorld {
  readonly #open: Op[] = [];
  readonly #dead = new Set<number>();
  nowMs: number;

  constructor(nowMs: number) {
    this.nowMs = nowMs;
  }

  get open(): readonly Op[] {
    return this.#open;
  }

  /**
   * Asks for an effect and its answer; it happens when its turn comes.
   *
   * @param partly some of the effect, as when a statement has filled some tables of several.
   */
  ask<T>(
    process: number,
    name: string,
    effect: () => T,
    partly: (share: number) => void = () => undefined,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      let result: { readonly value: T } | { readonly error: unknown } | undefined;
      const apply = (share: number) => {
        if (share > 0 && share < 1) partly(share);
        if (share < 1) return;
        try {
          result = { value: effect() };
        } catch (error) {
          result = { error };
        }
      };
      const answer = () => {
        if (result === undefined) apply(1);
        if (result !== undefined && 'value' in result) resolve(result.value);
        else if (result !== undefined) reject(result.error);
      };
      const refuse = (error: unknown) => {
        // An effect that was itself refused is told as what it is.
        reject(result !== undefined && 'error' in result ? result.error : error);
      };
      if (!this.#dead.has(process)) this.#open.push({ process, name, apply, answer, refuse });
    });
  }

  /** Takes an open question out, to be decided. */
  take(index: number): Op {
    const [op] = this.#open.splice(index, 1);
    if (op === undefined) throw new Error(`no open question ${index}`);
    this.nowMs++;
    return op;
  }

  /** Puts a question back, to be decided later. */
  putBack(op: Op): void {
    this.#open.push(op);
  }

  /** The process is gone: nothing it asked is ever answered. */
  kill(process: number): void {
    this.#dead.add(process);
    for (let i = this.#open.length - 1; i >= 0; i--) {
      if (this.#open[i]?.process === process) this.#open.splice(i, 1);
    }
  }
}
