import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/base/clock.ts';
import type { ChunkStore } from '../../../src/sink/chunks/chunk-store.ts';
import { ObservedStore } from '../../../src/sink/chunks/observed-store.ts';

/** Calls of a store that end when the test wants, on a clock that it moves. */
function rig() {
  const now = { ms: 1_000 };
  const clock: Pick<Clock, 'elapsedMs'> = { elapsedMs: () => now.ms };
  const pending: { succeed: () => void; fail: () => void }[] = [];
  const call = () =>
    new Promise<undefined>((resolve, reject) => {
      pending.push({
        succeed: () => resolve(undefined),
        fail: () => reject(new Error('connection refused')),
      });
    });
  const inner = { ledgerEnds: call, groupBeginMs: call } as unknown as ChunkStore;
  const store = new ObservedStore(inner, clock as Clock, 70_000);
  const ask = (partition: number) => {
    store.ledgerEnds('group', 't', partition).catch(() => undefined);
    return pending.at(-1) as (typeof pending)[number];
  };
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return { now, store, ask, pending, settled };
}

describe('a partition waits for the store', () => {
  it('from a call until it succeeds', async () => {
    const { now, store, ask, settled } = rig();
    expect(store.waitMs('t', 0)).toBe(0);
    const call = ask(0);
    now.ms += 3_000;
    expect([store.waitMs('t', 0), store.waitMs('t', 1)]).toEqual([3_000, 0]);
    call.succeed();
    await settled();
    expect(store.waitMs('t', 0)).toBe(0);
  });

  it('through failures and the pauses between attempts', async () => {
    const { now, store, ask, settled } = rig();
    for (let attempt = 0; attempt < 100; attempt++) {
      const call = ask(0);
      now.ms += 1_000;
      call.fail();
      await settled();
      now.ms += 5_000;
      expect(store.waitMs('t', 0)).toBe(6_000 * (attempt + 1));
    }
  });

  it('no longer when a failure is not retried: its claim was lost', async () => {
    const { now, store, ask, settled } = rig();
    ask(0).fail();
    await settled();
    now.ms += 10_001;
    expect(store.waitMs('t', 0)).toBe(0);
    ask(0);
    now.ms += 5;
    expect(store.waitMs('t', 0)).toBe(5);
  });

  it('no longer when a call is longer than the limit', () => {
    const { now, store, ask } = rig();
    ask(0);
    now.ms += 70_000;
    expect(store.waitMs('t', 0)).toBe(70_000);
    now.ms += 1;
    expect(store.waitMs('t', 0)).toBe(0);
  });

  it('with all of its topic while the topic is being read', () => {
    const { now, store } = rig();
    void store.groupBeginMs('group', 't', 'c');
    now.ms += 40;
    expect([store.waitMs('t', 7), store.waitMs('u', 7)]).toEqual([40, 0]);
  });

  it('while it waits for a call of another kind, as for the permit to write', async () => {
    const { now, store, pending, settled } = rig();
    const permitted = store.waiting({ topic: 't', partition: 3 }, () => {
      return new Promise<void>((resolve) => {
        pending.push({ succeed: resolve, fail: () => undefined });
      });
    });
    now.ms += 30_000;
    expect([store.waitMs('t', 3), store.waitMs('t', 0)]).toEqual([30_000, 0]);
    pending.at(-1)?.succeed();
    await permitted;
    await settled();
    expect(store.waitMs('t', 3)).toBe(0);
  });

  it('too long after 19 s: the longest wait is named, and how many there are', () => {
    const { now, store, ask } = rig();
    ask(4);
    now.ms += 10_000;
    ask(5);
    now.ms += 9_000;
    expect(store.problems()).toEqual([]);
    now.ms += 6_000;
    expect(store.problems()).toEqual(['clickhouse: t/4 has waited for it for 25 s']);
    now.ms += 10_000;
    expect(store.problems()).toEqual([
      'clickhouse: t/4 has waited for it for 35 s, 1 more as well',
    ]);
  });
});
