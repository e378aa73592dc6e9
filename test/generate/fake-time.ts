import type { Clock } from '../../src/base/clock.ts';

/** A clock that only sleeping moves, and a record of what was slept. */
export interface FakeTime {
  readonly clock: Pick<Clock, 'nowMs' | 'sleep'>;
  readonly sleeps: readonly number[];
  nowMs: number;
}

/** @param onSleep runs before the time of each sleep passes, e.g. to abort. */
export function fakeTime(startMs: number, onSleep?: (time: FakeTime) => void): FakeTime {
  const sleeps: number[] = [];
  const time: FakeTime = {
    nowMs: startMs,
    sleeps,
    clock: {
      nowMs: () => time.nowMs,
      async sleep(ms, signal) {
        onSleep?.(time);
        if (signal?.aborted) return;
        sleeps.push(ms);
        time.nowMs += ms;
      },
    },
  };
  return time;
}
