/** Result of a process's call to the world. */
export interface Fate {
  /**
   * `holds`: done, with a response. `fails`: an error. `dies`: the process is gone. `moves`: the group
   * assigns the partition to another process. `waits`: the same, and the calling process, unaware of it, gets
   * its turn some time later.
   */
  readonly kind: 'holds' | 'fails' | 'dies' | 'moves' | 'waits';
  /** Part of the effect that happened by then: 0 none, 1 all of it, between: some tables. */
  readonly share: number;
}

/** A call without a response yet. */
export interface Op {
  readonly process: number;
  readonly name: string;
  readonly apply: (share: number) => void;
  readonly respond: () => void;
  readonly refuse: (error: unknown) => void;
}

/** An injected failure, as distinct from a real one. */
export class MadeFailure extends Error {
  override readonly name = 'MadeFailure';
}

/**
 * All open calls of processes. Nothing happens by itself: the driver of the world removes open calls in any
 * order and decides their fates. The same choices give the same run, to the last microtask. Each call
 * advances time by a millisecond.
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
   * Calls for an effect and a response, which happen at its turn.
   *
   * @param partly some of the effect, as when a statement has filled some of several tables
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
      const respond = () => {
        if (result === undefined) apply(1);
        if (result !== undefined && 'value' in result) resolve(result.value);
        else if (result !== undefined) reject(result.error);
      };
      const refuse = (error: unknown) => {
        // A refused effect is reported as its own error.
        reject(result !== undefined && 'error' in result ? result.error : error);
      };
      if (!this.#dead.has(process)) this.#open.push({ process, name, apply, respond, refuse });
    });
  }

  /** Removes an open call to decide it. */
  removeAt(index: number): Op {
    const [op] = this.#open.splice(index, 1);
    if (op === undefined) throw new Error(`no open question ${index}`);
    this.nowMs++;
    return op;
  }

  /** Puts a call back, to decide it later. */
  putBack(op: Op): void {
    this.#open.push(op);
  }

  /** Kills the process: its calls get no response. */
  kill(process: number): void {
    this.#dead.add(process);
    for (let i = this.#open.length - 1; i >= 0; i--) {
      if (this.#open[i]?.process === process) this.#open.splice(i, 1);
    }
  }
}
