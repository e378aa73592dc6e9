import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';

describe('turns of the event loop', () => {
  it('are had one by one, in order, with the loop running between', async () => {
    const had: string[] = [];
    const worker = async (name: string) => {
      for (let turn = 1; turn <= 3; turn++) {
        await systemClock.yieldToEventLoop();
        had.push(`${name}${turn}`);
      }
    };
    let loops = 0;
    const watch = (): void => {
      loops++;
      had.push('-');
      if (loops < 9) setImmediate(watch);
    };
    const working = [worker('a'), worker('b'), worker('c')];
    setImmediate(watch);
    await Promise.all(working);
    const order = had.filter((each) => each !== '-');
    expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'c2', 'a3', 'b3', 'c3']);
    // Between any two turns, timers and sockets had theirs.
    expect(had.join(' ')).not.toMatch(/\w\d \w\d/);
  });

  it('are had in every turn by who waits alone', async () => {
    let loops = 0;
    let isWatching = true;
    const watch = (): void => {
      loops++;
      if (isWatching) setImmediate(watch);
    };
    setImmediate(watch);
    for (let turn = 0; turn < 100; turn++) await systemClock.yieldToEventLoop();
    isWatching = false;
    expect(loops).toBeGreaterThanOrEqual(99);
    expect(loops).toBeLessThanOrEqual(101);
  });
});

describe('A sleep of the system clock', () => {
  it('ends when its signal is aborted, and leaves no timer behind', async () => {
    const timers = () =>
      process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    const isOver = new AbortController();
    const slept = systemClock.sleep(3_600_000, isOver.signal);
    expect(timers()).toBe(before + 1);
    isOver.abort();
    await slept;
    expect(timers()).toBe(before);
  });

  it('does not begin when its signal is aborted already', async () => {
    await systemClock.sleep(3_600_000, AbortSignal.abort());
  });
});
