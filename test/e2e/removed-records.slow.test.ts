import { describe, expect, it } from 'vitest';
import { useStack } from '../containers/stack.ts';
import { chunk, compacted, keys, withLossyRig } from './kit/lossy-rig.ts';

const stack = useStack();
const { concurrent } = describe;

concurrent('a chunk that was begun and whose records Kafka has removed', () => {
  it('as the last ones of their log: verify says it though no record follows', () =>
    withLossyRig({ stack, name: 'removed_last' }, async (lossy) => {
      await lossy.send(100);
      await lossy.store();
      await lossy.send(60);
      await lossy.dies('before the insert');
      await lossy.delete(160);
      await lossy.store();
      expect(await lossy.removed()).toEqual({ events: 50, offsets: 10 });
    }));

  it('twice in a row: verify sums up what the first intent had counted', () =>
    withLossyRig({ stack, name: 'removed_twice' }, async (lossy) => {
      await lossy.send(130);
      await lossy.dies('before the insert');
      await lossy.delete(10);
      await lossy.dies('before the insert');
      await lossy.delete(30);
      await lossy.store();
      expect(await lossy.removed()).toEqual({ events: 30, offsets: 0 });
    }));

  it('in several partitions: verify names each', () =>
    withLossyRig({ stack, name: 'removed_several', partitions: 3 }, async (lossy) => {
      for (const partition of [0, 1, 2]) await lossy.send(60, { partition });
      await lossy.dies('before the insert');
      await lossy.delete(50, 0);
      await lossy.delete(7, 2);
      await lossy.store();
      expect(await lossy.removed()).toEqual({ events: 57, offsets: 0 });
      const { problems } = JSON.parse((await lossy.rig.cli(['verify', '--json'])).out);
      expect(problems).toMatchObject([
        { kind: 'removed', partition: 0, from_offset: 0, to_offset: 50, amount: 50 },
        { kind: 'removed', partition: 2, from_offset: 0, to_offset: 50, amount: 7 },
      ]);
    }));

  it.each([
    ['before the intent' as const, { events: 0, offsets: 80 }],
    ['before the insert' as const, { events: 50, offsets: 30 }],
    ['without a server' as const, { events: 50, offsets: 30 }],
    ['after the ledger' as const, { events: 0, offsets: 30 }],
  ])('of a process that dies %s: verify says what is not stored', (at, removed) =>
    withLossyRig({ stack, name: 'removed_step' }, async (lossy) => {
      // A chunk that is not full has no intent: the rest comes later.
      const first = at === 'before the intent' ? chunk - 1 : 80;
      await lossy.send(first);
      await lossy.dies(at);
      await lossy.send(80 - first);
      await lossy.delete(80);
      await lossy.store();
      expect(await lossy.removed()).toEqual(removed);
    }),
  );

  it('by compaction: verify says how many events', () =>
    withLossyRig({ stack, name: 'removed_compacted', topicSettings: compacted }, async (lossy) => {
      await lossy.send(chunk, { key: true });
      await lossy.dies('before the insert');
      // A new segment begins with the next record, and the one before may be compacted.
      await lossy.send(10, { key: true, timestampMs: Date.now() + 1_000 });
      const left = await lossy.untilCompacted(chunk);
      await lossy.store();
      expect(await lossy.removed()).toEqual({ events: chunk - left, offsets: 0 });
    }));
});

concurrent('records that Kafka has removed before a process has read them', () => {
  it('by compaction: verify says how many at most', () =>
    withLossyRig({ stack, name: 'removed_sparse', topicSettings: compacted }, async (lossy) => {
      await lossy.send(10, { key: true });
      await lossy.store();
      await lossy.send(chunk, { key: true });
      await lossy.send(10, { key: true, timestampMs: Date.now() + 1_000 });
      expect(await lossy.untilCompacted(10 + chunk)).toBe(keys);
      await lossy.store();
      expect(await lossy.removed()).toEqual({ events: 0, offsets: chunk - keys });
    }));

  it('by retention of bytes', () =>
    withLossyRig(
      { stack, name: 'removed_bytes', topicSettings: { 'segment.bytes': '1048576' } },
      async (lossy) => {
        await lossy.send(40);
        await lossy.store();
        for (let n = 0; n < 8; n++) await lossy.send(50, { padding: 10_000 });
        await lossy.dies('before the insert');
        await lossy.retain({ 'retention.bytes': '1048576' });
        const low = await lossy.untilRetained((each) => each > 90);
        await lossy.store();
        expect(await lossy.removed()).toEqual({ events: 50, offsets: low - 90 });
      },
    ));
});
