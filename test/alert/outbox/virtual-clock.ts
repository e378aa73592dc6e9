import type { Clock } from '../../../src/base/clock.ts';

interface Timer {
  readonly atMs: number;
  readonly action: () => void;
}

/** A clock that stands still until it is advanced. What is due happens in order of time. */
export class VirtualClock implements Clock {
  #elapsedMs = 0;
  #wallMs: number;
  readonly #timers = new Set<Timer>();

  constructor(wallMs = Date.UTC(2026, 10, 1, 12)) {
    this.#wallMs = wallMs;
  }

  nowMs(): number {
    return this.#wallMs;
  }

  elapsedMs(): number {
    return this.#elapsedMs;
  }

  /** Moves the wall clock alone. */
  jump(ms: number): void {
    this.#wallMs += ms;
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.#after(ms, resolve));
  }

  yieldToEventLoop(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }

  every(ms: number, action: () => void): () => void {
    let isOver = false;
    const next = () =>
      this.#after(ms, () => {
        if (isOver) return;
        action();
        next();
      });
    next();
    return () => {
      isOver = true;
    };
  }

  /** Runs all that happens within this time. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#elapsedMs + ms;
    await this.#settle();
    for (;;) {
      const due = [...this.#timers].filter(({ atMs }) => atMs <= endMs);
      const [first] = due.sort((a, b) => a.atMs - b.atMs);
      if (first === undefined) break;
      this.#timers.delete(first);
      this.#move(first.atMs);
      first.action();
      await this.#settle();
    }
    this.#move(endMs);
  }

  #after(ms: number, action: () => void): void {
    this.#timers.add({ atMs: this.#elapsedMs + ms, action });
  }

  #move(toMs: number): void {
    this.#wallMs += toMs - this.#elapsedMs;
    this.#elapsedMs = toMs;
  }

  /** Lets everything happen that needs no time. */
  async #settle(): Promise<void> {
    await this.yieldToEventLoop();
  }
}
