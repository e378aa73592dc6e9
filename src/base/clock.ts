import { setTimeout as sleep } from 'node:timers/promises';

/** Time in milliseconds since the Unix epoch, which may jump. */
export interface WallClock {
  nowMs(): number;
}

/** Time as a port, replaced by tests. */
export interface Clock extends WallClock {
  /** Monotonic time in milliseconds. */
  elapsedMs(): number;
  /** @param signal ends the sleep early: a timer left over from a race would keep a thread alive. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Gives the event loop a turn (timers, sockets, signals). Waiters resume one a turn, in arrival order. */
  yieldToEventLoop(): Promise<void>;
  /** Repeats an action until the returned function is called. */
  every(ms: number, action: () => void): () => void;
}

const waiting: (() => void)[] = [];

function nextTurn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(nextTurn);
}

/** Clock of the machine, for shells only: the core has the time as a parameter. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  elapsedMs: () => performance.now(),
  sleep: (ms, signal) =>
    sleep(ms, undefined, signal === undefined ? {} : { signal }).catch((error: unknown) => {
      if (signal?.aborted !== true) throw error;
    }),
  yieldToEventLoop: () =>
    new Promise((resolve) => {
      if (waiting.push(resolve) === 1) setImmediate(nextTurn);
    }),
  every: (ms, action) => {
    const timer = setInterval(action, ms);
    return () => clearInterval(timer);
  },
};
