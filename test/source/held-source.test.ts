import { expect, it } from 'vitest';
import { HeldSource } from '../../src/source/held-source.ts';
import type { RecordBatch } from '../../src/source/record.ts';
import {
  type Claim,
  ClaimLostError,
  emptyPartition,
  type Source,
  type SourceHandler,
} from '../../src/source/source.ts';

const claim: Claim = { topic: 't', partition: 0, isLost: false, commit: async () => undefined };
const batch = {} as RecordBatch;

/** A held source, whose batches are pushed by hand. A sleep ends at once, after `onSleep`. */
async function held(onSleep: (source: HeldSource) => void) {
  const state = { isHeld: true, sleeps: 0, handed: 0, kept: 0 };
  let inner: SourceHandler | undefined;
  const source: Source = {
    groupId: 'g',
    done: new Promise(() => undefined),
    start: async (handler) => {
      inner = handler;
    },
    problems: () => ['a problem'],
    quiesce: () => undefined,
    stop: async () => undefined,
  };
  const all = new HeldSource(source, () => state.isHeld, {
    sleep: async () => {
      state.sleeps++;
      onSleep(all);
    },
  });
  await all.start({
    onClaimed: async () => ({ offset: 7, knownTo: 7, leaderEpoch: 3 }),
    onBatch: async () => {
      state.handed++;
    },
    onLost: () => undefined,
  });
  const keepAlive = async () => {
    state.kept++;
  };
  const handler = inner as unknown as SourceHandler;
  return { source: all, state, handler, push: () => handler.onBatch(claim, batch, keepAlive) };
}

it('a batch waits while it is held, keeps its claim alive, and is handed on once', async () => {
  const { push, state, source, handler } = await held(() => {
    if (state.sleeps === 3) state.isHeld = false;
  });
  await push();
  expect(state).toEqual({ isHeld: false, sleeps: 3, handed: 1, kept: 3 });
  await push();
  expect(state).toEqual({ isHeld: false, sleeps: 3, handed: 2, kept: 3 });
  expect([source.groupId, source.problems()]).toEqual(['g', ['a problem']]);
  expect(await handler.onClaimed(claim, emptyPartition)).toEqual({
    offset: 7,
    knownTo: 7,
    leaderEpoch: 3,
  });
});

it('a batch that is held when the process ends is not counted', async () => {
  const { push, state } = await held((source) => {
    if (state.sleeps === 2) source.quiesce();
  });
  await expect(push()).rejects.toBeInstanceOf(ClaimLostError);
  expect(state).toMatchObject({ sleeps: 2, handed: 0 });
});
