import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLog } from '../../src/base/log.ts';
import { WatchLoop } from '../../src/watch/watch-loop.ts';
import type { Watcher } from '../../src/watch/watcher.ts';

const log = createLog({ level: 'silent' });

/** A watcher whose steps fail as often as it is told to. */
function watcherOf(failures: readonly unknown[]) {
  const left = [...failures];
  const calls: string[] = [];
  const watcher = {
    start: async () => {
      calls.push('start');
    },
    step: async () => {
      calls.push('step');
      const failure = left.shift();
      if (failure !== undefined) throw failure;
    },
    settle: async () => {
      calls.push('settle');
    },
  };
  return { calls, watcher: watcher as unknown as Watcher };
}

describe('WatchLoop', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('is not ready after three failed steps in a row, and again after one that holds', async () => {
    const { watcher } = watcherOf([
      new Error('a'),
      new Error('b'),
      'ClickHouse is away',
      new Error('c'),
    ]);
    const loop = new WatchLoop(watcher, { intervalMs: 100, judgeAtEnd: false, log });
    await loop.start();
    const problems: string[][] = [];
    for (let turn = 0; turn < 5; turn++) {
      await vi.advanceTimersByTimeAsync(100);
      problems.push(loop.problems());
    }
    expect(problems).toEqual([
      [],
      [],
      ['detect: 3 steps in a row have failed: ClickHouse is away'],
      ['detect: 4 steps in a row have failed: c'],
      [],
    ]);
    await loop.stop();
  });

  it('does not take two failures that are not in a row for more', async () => {
    const { watcher } = watcherOf([new Error('a'), new Error('b'), undefined, new Error('c')]);
    const loop = new WatchLoop(watcher, { intervalMs: 100, judgeAtEnd: false, log });
    await loop.start();
    for (let turn = 0; turn < 4; turn++) {
      await vi.advanceTimersByTimeAsync(100);
      expect(loop.problems()).toEqual([]);
    }
    await loop.stop();
  });

  it('steps at its interval, one step at a time, until it is stopped', async () => {
    const { calls, watcher } = watcherOf([]);
    let finish: () => void = () => undefined;
    watcher.step = () => {
      calls.push('step');
      return new Promise((resolve) => {
        finish = resolve;
      });
    };
    const loop = new WatchLoop(watcher, { intervalMs: 100, judgeAtEnd: false, log });
    await loop.start();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(calls).toEqual(['start', 'step']);
    finish();
    await vi.advanceTimersByTimeAsync(99);
    expect(calls).toEqual(['start', 'step']);
    await vi.advanceTimersByTimeAsync(1);
    expect(calls).toEqual(['start', 'step', 'step']);
    let isStopped = false;
    const stopped = loop.stop().then(() => {
      isStopped = true;
    });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(isStopped).toBe(false);
    finish();
    await stopped;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(calls).toEqual(['start', 'step', 'step', 'settle']);
  });

  it('judges once more at the end of a source that has one', async () => {
    const { calls, watcher } = watcherOf([]);
    const loop = new WatchLoop(watcher, { intervalMs: 100, judgeAtEnd: true, log });
    await loop.start();
    await loop.stop();
    expect(calls).toEqual(['start', 'step', 'settle']);
  });
});
