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
    new Promise((resolve) => {
      if (signal?.aborted === true) {
        resolve();
        return;
      }
      const end = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      signal?.addEventListener('abort', end);
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

/** Waits for work, at most `ms`. Rejects where the work fails before. */
export async function within(
  ms: number,
  work: Promise<unknown> | undefined,
  clock: Pick<Clock, 'sleep'>,
): Promise<void> {
  const isOver = new AbortController();
  try {
    await Promise.race([work, clock.sleep(ms, isOver.signal)]);
  } finally {
    isOver.abort();
  }
}
