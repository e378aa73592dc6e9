import { describe, expect, it } from 'vitest';
import { HostQueue } from '../../src/generate/host-queue.ts';
import { Random } from '../../src/generate/random.ts';

/** First come, first served, the long way: every request's start and end are kept. */
function simulate(slots: number, requests: readonly { atMs: number; holdMs: number }[]) {
  const served: { startMs: number; endMs: number }[] = [];
  return requests.map(({ atMs, holdMs }) => {
    const waiting = served.filter(({ startMs }) => startMs > atMs).length;
    const running = served.filter(({ startMs, endMs }) => startMs <= atMs && endMs > atMs).length;
    // The slots' ends, after everybody before: the earliest of the last ones free each slot.
    const free = Array.from({ length: slots }, () => 0);
    for (const { endMs } of served) {
      free.sort((a, b) => a - b);
      free[0] = endMs;
    }
    const startMs = Math.max(atMs, Math.min(...free));
    served.push({ startMs, endMs: startMs + holdMs });
    return { waitMs: startMs - atMs, concurrency: running + waiting + 1, queueDepth: waiting };
  });
}

describe('HostQueue', () => {
  it('lets nobody wait while a slot is free, and then by turns', () => {
    const queue = new HostQueue(2);
    const seen = { waitMs: 0, concurrency: 0, queueDepth: 0 };
    const arrive = (atMs: number, holdMs: number) => {
      queue.peek(atMs, seen);
      queue.occupy(atMs, holdMs);
      return [seen.waitMs, seen.concurrency, seen.queueDepth];
    };
    expect(arrive(0, 10)).toEqual([0, 1, 0]);
    expect(arrive(1, 10)).toEqual([0, 2, 0]);
    expect(arrive(2, 10)).toEqual([8, 3, 0]);
    expect(arrive(3, 10)).toEqual([8, 4, 1]);
    // At 10 the first slot goes to the third request at once: it is free to nobody else.
    expect(arrive(10, 1)).toEqual([10, 4, 1]);
    expect(arrive(100, 1)).toEqual([0, 1, 0]);
  });

  it.each([1, 3, 8])('agrees with a simulation that keeps everything, over %d slots', (slots) => {
    const random = new Random(slots);
    let atMs = 0;
    const requests = Array.from({ length: 400 }, () => {
      atMs += random.exponential(1);
      return { atMs, holdMs: random.exponential(1.1 * slots) };
    });
    const queue = new HostQueue(slots);
    const got = requests.map(({ atMs: now, holdMs }) => {
      const seen = { waitMs: 0, concurrency: 0, queueDepth: 0 };
      queue.peek(now, seen);
      queue.occupy(now, holdMs);
      return seen;
    });
    const wanted = simulate(slots, requests);
    expect(Math.max(...wanted.map(({ queueDepth }) => queueDepth))).toBeGreaterThan(10);
    for (const [n, want] of wanted.entries()) {
      expect(got[n]?.waitMs).toBeCloseTo(want.waitMs, 9);
      expect(got[n]?.concurrency).toBe(want.concurrency);
      expect(got[n]?.queueDepth).toBe(want.queueDepth);
    }
  });

  it('keeps count of a queue that outgrows its ring', () => {
    const queue = new HostQueue(1);
    const seen = { waitMs: 0, concurrency: 0, queueDepth: 0 };
    for (let n = 0; n < 1_000; n++) queue.occupy(n * 0.001, 10);
    queue.peek(1, seen);
    expect(seen.queueDepth).toBe(999);
    queue.peek(5_005, seen);
    expect(seen.queueDepth).toBe(499);
    queue.peek(10_000, seen);
    expect(seen).toEqual({ waitMs: 0, concurrency: 1, queueDepth: 0 });
  });

  it('serves at once who comes to a slot that was added, though others wait', () => {
    const queue = new HostQueue(1);
    const seen = { waitMs: 0, concurrency: 0, queueDepth: 0 };
    for (let n = 0; n < 3; n++) queue.occupy(0, 100);
    queue.resize(2, 10);
    queue.peek(10, seen);
    expect(seen).toEqual({ waitMs: 0, concurrency: 4, queueDepth: 2 });
    queue.occupy(10, 20);
    // The next one has the added slot at 30, before those that wait for the other one until 100 and 200.
    queue.occupy(20, 300);
    for (const [atMs, waitMs, queueDepth] of [
      [25, 275, 3],
      [30, 270, 2],
      [100, 200, 1],
      [200, 100, 0],
    ] as const) {
      queue.peek(atMs, seen);
      expect([atMs, seen.waitMs, seen.queueDepth]).toEqual([atMs, waitMs, queueDepth]);
    }
  });

  it('removes slots once they are free, and never one that is busy', () => {
    const queue = new HostQueue(4);
    const seen = { waitMs: 0, concurrency: 0, queueDepth: 0 };
    for (const holdMs of [10, 20, 30]) queue.occupy(0, holdMs);
    queue.resize(1, 5);
    queue.peek(5, seen);
    expect(seen).toEqual({ waitMs: 5, concurrency: 4, queueDepth: 0 });
    queue.resize(1, 25);
    queue.peek(25, seen);
    expect(seen).toEqual({ waitMs: 5, concurrency: 2, queueDepth: 0 });
    queue.resize(1, 40);
    queue.occupy(40, 7);
    queue.peek(41, seen);
    expect(seen).toEqual({ waitMs: 6, concurrency: 2, queueDepth: 0 });
  });
});
