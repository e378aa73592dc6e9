import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds since the Unix epoch, as read by whoever is told the time: may jump. */
export interface WallClock {
  nowMs(): number;
}

/** Time, as far as the work of a process depends on it; a test passes a clock of its own. */
export interface Clock extends WallClock {
  /** Milliseconds since some moment: never goes back, whatever is done to the wall clock. */
  elapsedMs(): number;
  /** @param signal ends it early: a timer of a race that is over would keep a thread from ending. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /**
   * Gives the event loop a turn: timers, sockets, signals. However many wait for theirs, one goes on
   * in each turn, in the order in which they came.
   */
  breathe(): Promise<void>;
  /** Calls again and again, until the function it gives is called. */
  every(ms: number, action: () => void): () => void;
}

const waiting: (() => void)[] = [];

function nextTurn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(nextTurn);
}

/** The machine's own clock. Only shells use it: the core is told the time. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  elapsedMs: () => performance.now(),
  sleep: (ms, signal) =>
    sleep(ms, undefined, signal === undefined ? {} : { signal }).catch((error: unknown) => {
      if (signal?.aborted !== true) throw error;
    }),
  breathe: () =>
    new Promise((resolve) => {
      if (waiting.push(resolve) === 1) setImmediate(nextTurn);
    }),
  every: (ms, action) => {
    const timer = setInterval(action, ms);
    return () => clearInterval(timer);
  },
};
