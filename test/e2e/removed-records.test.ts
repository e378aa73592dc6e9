import { describe, expect, it } from 'vitest';
import { useStack } from '../containers/stack.ts';
import { callsOf } from './kit/calls-of.ts';
import { chunk, compacted, keys, slow, withLossyRig } from './kit/lossy-rig.ts';
import { poll } from './kit/poll.ts';
import { startIngester } from './kit/start-ingester.ts';

const stack = useStack();
const { concurrent } = describe;

// More ways to lose records are in removed-records.slow.test.ts.
const none = { events: 0, offsets: 0 };

concurrent('a chunk that was begun and whose records Kafka has removed', () => {
  it.each([
    ['wholly', chunk, { events: 50, offsets: 0 }],
    ['partly', 20, { events: 20, offsets: 0 }],
    ['wholly, and more behind it', 75, { events: 50, offsets: 25 }],
  ])('%s: verify says how many events', (_, below, removed) =>
    withLossyRig({ stack, name: 'removed_first' }, async (lossy) => {
      await lossy.send(130);
      await lossy.dies('before the insert');
      await lossy.delete(below);
      await lossy.store();
      expect(await lossy.removed()).toEqual(removed);
      const said = (await lossy.rig.cli(['verify'])).out;
      expect(said).toContain(
        `were removed from Kafka before they were stored: ${lossy.rig.topic}[0] offsets 0..49`,
      );
      const lines = lossy.rig.logLines.filter((line) => line.includes('removed from Kafka'));
      expect(lines).toHaveLength(removed.offsets === 0 ? 1 : 2);
      expect(JSON.parse(lines[0] ?? '')).toMatchObject({
        level: 50,
        removed_events: removed.events,
      });
      expect(lines[0]).toContain('retention.ms');
    }),
  );

  it('while no ingester runs: verify says that nobody sees it, and what it was once one has run', () =>
    withLossyRig({ stack, name: 'removed_unseen' }, async (lossy) => {
      await lossy.send(50);
      await lossy.store();
      await lossy.send(30);
      await lossy.delete(80);
      const unseen =
        'no ingester runs: records that Kafka removes meanwhile are named once one does';
      expect((await lossy.rig.cli(['verify'])).out).toContain(unseen);
      await lossy.send(10);
      const pipeline = await lossy.rig.start(['ingest']);
      await lossy.rig.untilConsumed(60);
      const { out } = await lossy.rig.cli(['verify']);
      expect(out).not.toContain(unseen);
      expect(out).toContain(`up to 30 records were removed from Kafka before they were stored`);
      await pipeline.stop();
    }));

  it('with its topic, which is recreated while ClickHouse is away: verify says it once that is back', () =>
    withLossyRig({ stack, name: 'removed_topic' }, async (lossy) => {
      let isAway = true;
      let isPending = false;
      const ingester = await startIngester(lossy.rig, {
        metrics: lossy.metrics,
        wrapStore: (store) => ({
          ...callsOf(store),
          insert: async (each) => {
            isPending = true;
            if (isAway) throw new Error('connect ECONNREFUSED');
            await store.insert(each);
          },
        }),
      });
      await lossy.send(130);
      await poll('a chunk is pending', () => (isPending ? true : undefined), slow);
      await lossy.recreate();
      const isAssigned = () =>
        lossy.rig.logLines.join().split('partition assigned').length > 2 ? true : undefined;
      await poll('the new topic is assigned', isAssigned, slow);
      isAway = false;
      await lossy.send(30);
      await lossy.rig.untilConsumed(30);
      await ingester.drain();
      const { events, offsets } = await lossy.removed();
      expect(events + offsets).toBe(130);
      expect(events).toBeGreaterThan(0);
    }));

  it('of a process that dies after the insert: verify says what is not stored', () =>
    withLossyRig({ stack, name: 'removed_step' }, async (lossy) => {
      await lossy.send(80);
      await lossy.dies('after the insert');
      await lossy.delete(80);
      await lossy.store();
      expect(await lossy.removed()).toEqual({ events: 0, offsets: 30 });
    }));
});

concurrent('records that Kafka has removed before a process has read them', () => {
  it('by deletion: verify says how many at most', () =>
    withLossyRig({ stack, name: 'removed_unread' }, async (lossy) => {
      await lossy.send(100);
      await lossy.store();
      await lossy.send(70);
      await lossy.delete(130);
      await lossy.store();
      expect(await lossy.removed()).toEqual({ events: 0, offsets: 30 });
    }));

  it('by compaction before the group began: that is no loss of the group', () =>
    withLossyRig({ stack, name: 'removed_before', topicSettings: compacted }, async (lossy) => {
      await lossy.send(chunk, { key: true });
      await lossy.send(10, { key: true, timestampMs: Date.now() + 1_000 });
      expect(await lossy.untilCompacted(chunk)).toBe(keys);
      lossy.sent = keys + 10;
      await lossy.store();
      expect(await lossy.removed()).toEqual(none);
    }));

  it('by retention of time, to the last one', () =>
    withLossyRig(
      { stack, name: 'removed_time', topicSettings: { 'retention.ms': '60000' } },
      async (lossy) => {
        await lossy.send(40);
        await lossy.store();
        await lossy.send(90);
        await lossy.dies('before the insert');
        await lossy.retain({ 'retention.ms': '1' });
        await lossy.untilRetained((low, high) => low === high);
        await lossy.store();
        expect(await lossy.removed()).toEqual({ events: 50, offsets: 40 });
      },
    ));

  it('and others after they were stored: verify says nothing of those', () =>
    withLossyRig({ stack, name: 'removed_under' }, async (lossy) => {
      await lossy.send(100);
      await lossy.store();
      expect(await lossy.removed()).toEqual(none);
      const reader = await lossy.rig.start(['ingest'], lossy.rig.config, lossy.metrics);
      await lossy.send(20);
      await lossy.rig.untilConsumed(120);
      await lossy.delete(120);
      await lossy.send(20);
      await lossy.rig.untilConsumed(140);
      await reader.stop();
      expect(await lossy.removed()).toEqual(none);
    }));
});
