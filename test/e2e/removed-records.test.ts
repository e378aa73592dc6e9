import kafkajs, { type Admin } from 'kafkajs';
import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../src/base/telemetry/metrics.ts';
import { createKafkaClient } from '../../src/kafka/client/kafka-client.ts';
import { ensureTopics } from '../../src/kafka/client/kafka-topics.ts';
import { OffsetReader } from '../../src/kafka/offset-reader.ts';
import type { Chunk, LedgerEntry } from '../../src/sink/chunks/chunk.ts';
import type { ChunkStore } from '../../src/sink/chunks/chunk-store.ts';
import type { Verification } from '../../src/sink/verify.ts';
import { ledgerState } from '../../src/views/pipeline/ledger-state.ts';
import { useStack } from '../containers/stack.ts';
import { callsOf } from './kit/calls-of.ts';
import { poll } from './kit/poll.ts';
import { presentTopics } from './kit/present-topics.ts';
import { Rig, type RigOptions } from './kit/rig.ts';
import { startIngester } from './kit/start-ingester.ts';

const { ConfigResourceTypes } = kafkajs;
const stack = useStack();
const { concurrent } = describe;
/** Events of a full chunk; each message is an event. */
const chunk = 50;
/** Different keys: compaction keeps the last record of each. */
const keys = 5;
/** For a machine that has other things to do. */
const slow = { deadlineMs: 120_000 };

type Step =
  | 'before the intent'
  | 'before the insert'
  | 'after the insert'
  | 'after the ledger'
  | 'without a server';

/** A rig that has lost events, and the number of events that were sent to it. */
class LossyRig {
  readonly rig: Rig;
  sent = 0;
  readonly metrics = createMetrics();

  constructor(rig: Rig) {
    this.rig = rig;
  }

  async send(
    count: number,
    { partition = 0, padding = 0, key = false, timestampMs = Date.now() } = {},
  ): Promise<void> {
    const event = JSON.stringify({ ts: Date.now() - 5, model: 'm', total_ms: 5 });
    const value = event + ' '.repeat(padding);
    const messages = Array.from({ length: count }, (_, n) => ({
      ...{ value, partition, timestampMs },
      ...(key ? { key: `k${n % keys}` } : {}),
    }));
    await this.rig.publish(messages);
    this.sent += count;
  }

  /** Begins to store chunks, and dies at a step of the first one of each partition. */
  async dies(at: Step): Promise<void> {
    const partitions = new Set<number>();
    const never = () => new Promise<never>(() => undefined);
    const reached = ({ partition }: { readonly partition: number }) => {
      partitions.add(partition);
      return never();
    };
    const wrapStore = (store: ChunkStore) => ({
      ...callsOf(store),
      insert: async (each: Chunk) => {
        if (at === 'without a server') partitions.add(each.partition);
        if (at === 'without a server') throw new Error('connect ECONNREFUSED');
        if (at === 'before the insert') return reached(each);
        await store.insert(each);
        return at === 'after the insert' ? reached(each) : undefined;
      },
      record: async (entry: LedgerEntry, attempt: number) => {
        await store.record(entry, attempt);
        return reached(entry);
      },
    });
    const dying = await startIngester(this.rig, { wrapStore, sealsOnlyFull: true });
    if (at === 'before the intent') {
      await poll('its position is kept', () => this.#isKept(), slow);
      return dying.abandon();
    }
    const due = (await this.#bounds()).filter(({ high, low }) => high > low).length;
    await poll('its chunks are pending', () => (partitions.size >= due ? true : undefined), slow);
    await dying.abandon();
  }

  /** Whether the group has committed where it begins. */
  #isKept(): Promise<true | undefined> {
    return this.#admin(async (admin) => {
      const { group_id: groupId } = this.rig.config.kafka;
      const [found] = await admin.fetchOffsets({ groupId, topics: [this.rig.topic] });
      return found?.partitions.every(({ offset }) => Number(offset) >= 0) ? true : undefined;
    });
  }

  /** Ingests until the ledger ends where the logs do, and ends in order. */
  async store(): Promise<void> {
    const pipeline = await this.rig.start(['ingest'], this.rig.config, this.metrics);
    await poll(
      'the ledger ends where the logs do',
      async () => {
        const ends = await this.rig.rows<{ partition: number; end: string }>(
          'SELECT partition, max(end_offset) AS end FROM flushes GROUP BY partition',
        );
        const logs = await this.#bounds();
        const isStored = ({ partition, high }: { partition: number; high: number }) =>
          high === 0 ||
          ends.some((each) => each.partition === partition && Number(each.end) >= high);
        return logs.every(isStored) ? true : undefined;
      },
      slow,
    );
    await pipeline.stop();
  }

  /** Deletes the topic, and creates it again once it is gone. */
  async recreate(): Promise<void> {
    const { topic } = this.rig;
    await this.#admin(async (admin) => {
      await admin.deleteTopics({ topics: [topic] });
      await poll('the topic is gone', async () => {
        const there = await presentTopics(this.rig.config.kafka, [topic]);
        return there.length === 0 ? true : undefined;
      });
    });
    await ensureTopics(this.rig.config.kafka, [{ topic }]);
  }

  delete(offset: number, partition = 0): Promise<void> {
    return this.#admin(async (admin) => {
      await admin.fetchTopicOffsets(this.rig.topic);
      const partitions = [{ partition, offset: String(offset) }];
      await admin.deleteTopicRecords({ topic: this.rig.topic, partitions });
    });
  }

  /** Gives the topic other settings, by which its records are removed. */
  async retain(settings: Readonly<Record<string, string>>): Promise<void> {
    const configEntries = Object.entries(settings).map(([name, value]) => ({ name, value }));
    await this.#admin((admin) =>
      admin.alterConfigs({
        validateOnly: false,
        resources: [{ type: ConfigResourceTypes.TOPIC, name: this.rig.topic, configEntries }],
      }),
    );
  }

  /** Waits until the log begins at an offset that retention has chosen. */
  async untilRetained(isDone: (low: number, high: number) => boolean): Promise<number> {
    return poll(
      'retention has removed records',
      async () => {
        const [{ low, high } = { low: 0, high: 0 }] = await this.#bounds();
        return isDone(low, high) ? low : undefined;
      },
      slow,
    );
  }

  /** Waits until the first records are compacted away but for a few; returns how many are left of them. */
  async untilCompacted(first: number): Promise<number> {
    const { kafka } = this.rig.config;
    const offsets = Array.from({ length: first }, (_, offset) => offset);
    const wanted = [{ topic: this.rig.topic, partition: 0, offsets }];
    return poll(
      'records are compacted away',
      async () => {
        const reader = await OffsetReader.open(kafka, [this.rig.topic], 1 << 20);
        let left = 0;
        await reader.read(wanted, () => left++);
        await reader.close();
        return left <= keys ? left : undefined;
      },
      slow,
    );
  }

  /** What `verify` says is lost, which must be what was sent and is not stored. */
  async removed(): Promise<Verification['removed']> {
    const { exitCode, out } = await this.rig.cli(['verify', '--json']);
    const { ok, removed, problems, checks } = JSON.parse(out) as Verification;
    const stored = await this.rig.consumed();
    const listed = problems.reduce((sum, { amount }) => sum + amount, 0);
    const lost = this.sent - stored;
    expect({ lost: removed.events + removed.offsets, listed, ok, exitCode }).toEqual({
      ...{ lost, listed: lost, ok: lost === 0, exitCode: lost === 0 ? 0 : 2 },
    });
    const failed = checks.filter((check) => !check.ok).map(({ name }) => name);
    expect(failed).toEqual(lost === 0 ? [] : ['no record was removed before it was stored']);
    const said = (await this.rig.cli(['verify'])).out;
    expect(said.includes('exactly once: verified')).toBe(lost === 0);
    expect(said.includes('exactly once, but ')).toBe(lost > 0);
    expect((await ledgerState(this.rig.client, Date.now())).ok).toBe(lost === 0);
    expect(await this.#counted()).toEqual({ exact: removed.events, at_most: removed.offsets });
    return removed;
  }

  async #counted() {
    const { values } = await this.metrics.eventsRemoved.get();
    const of = (count: string) => values.find(({ labels }) => labels.count === count)?.value ?? 0;
    return { exact: of('exact'), at_most: of('at_most') };
  }

  #bounds() {
    return this.#admin(async (admin) => {
      const found = await admin.fetchTopicOffsets(this.rig.topic);
      return found.map(({ partition, low, high }) => ({
        ...{ partition, low: Number(low), high: Number(high) },
      }));
    });
  }

  async #admin<T>(use: (admin: Admin) => Promise<T>): Promise<T> {
    const admin = createKafkaClient(this.rig.config.kafka).admin();
    await admin.connect();
    try {
      return await use(admin);
    } finally {
      await admin.disconnect();
    }
  }
}

async function withLossyRig(
  options: Omit<RigOptions, 'stack' | 'settings'>,
  use: (lossy: LossyRig) => Promise<void>,
): Promise<void> {
  const settings = { INGEST_FLUSH_MAX_EVENTS: String(chunk) };
  const rig = await Rig.open({ stack, settings, ...options });
  try {
    await use(new LossyRig(rig));
    await rig.stopAll();
  } catch (error) {
    process.stderr.write(`${rig.tail()}\n`);
    throw error;
  } finally {
    await rig.close();
  }
}

const none = { events: 0, offsets: 0 };
const compacted = { 'cleanup.policy': 'compact', 'segment.ms': '200' };

concurrent('a chunk that was begun and whose records Kafka has removed', () => {
  it.each([
    ['wholly', chunk, { events: 50, offsets: 0 }],
    ['partly', 20, { events: 20, offsets: 0 }],
    ['wholly, and more behind it', 75, { events: 50, offsets: 25 }],
  ])('%s: verify says how many events', (_, below, removed) =>
    withLossyRig({ name: 'removed_first' }, async (lossy) => {
      await lossy.send(130);
      await lossy.dies('before the insert');
      await lossy.delete(below);
      await lossy.store();
      expect(await lossy.removed()).toEqual(removed);
      const said = (await lossy.rig.cli(['verify'])).out;
      expect(said).toContain(
        `were removed from Kafka before they were read: ${lossy.rig.topic}[0] offsets 0..49`,
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

  it('with its topic, which is recreated while ClickHouse is away: verify says it once that is back', () =>
    withLossyRig({ name: 'removed_topic' }, async (lossy) => {
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

  it('as the last ones of their log: verify says it though no record follows', () =>
    withLossyRig({ name: 'removed_last' }, async (lossy) => {
      await lossy.send(100);
      await lossy.store();
      await lossy.send(60);
      await lossy.dies('before the insert');
      await lossy.delete(160);
      await lossy.store();
      expect(await lossy.removed()).toEqual({ events: 50, offsets: 10 });
    }));

  it('twice in a row: verify sums up what the first intent had counted', () =>
    withLossyRig({ name: 'removed_twice' }, async (lossy) => {
      await lossy.send(130);
      await lossy.dies('before the insert');
      await lossy.delete(10);
      await lossy.dies('before the insert');
      await lossy.delete(30);
      await lossy.store();
      expect(await lossy.removed()).toEqual({ events: 30, offsets: 0 });
    }));

  it('in several partitions: verify names each', () =>
    withLossyRig({ name: 'removed_several', partitions: 3 }, async (lossy) => {
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
    ['after the insert' as const, { events: 0, offsets: 30 }],
    ['after the ledger' as const, { events: 0, offsets: 30 }],
  ])('of a process that dies %s: verify says what is not stored', (at, removed) =>
    withLossyRig({ name: 'removed_step' }, async (lossy) => {
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
    withLossyRig({ name: 'removed_compacted', topicSettings: compacted }, async (lossy) => {
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
  it('by deletion: verify says how many at most', () =>
    withLossyRig({ name: 'removed_unread' }, async (lossy) => {
      await lossy.send(100);
      await lossy.store();
      await lossy.send(70);
      await lossy.delete(130);
      await lossy.store();
      expect(await lossy.removed()).toEqual({ events: 0, offsets: 30 });
    }));

  it('by compaction: verify says how many at most', () =>
    withLossyRig({ name: 'removed_sparse', topicSettings: compacted }, async (lossy) => {
      await lossy.send(10, { key: true });
      await lossy.store();
      await lossy.send(chunk, { key: true });
      await lossy.send(10, { key: true, timestampMs: Date.now() + 1_000 });
      expect(await lossy.untilCompacted(10 + chunk)).toBe(keys);
      await lossy.store();
      expect(await lossy.removed()).toEqual({ events: 0, offsets: chunk - keys });
    }));

  it('by compaction before the group began: that is no loss of the group', () =>
    withLossyRig({ name: 'removed_before', topicSettings: compacted }, async (lossy) => {
      await lossy.send(chunk, { key: true });
      await lossy.send(10, { key: true, timestampMs: Date.now() + 1_000 });
      expect(await lossy.untilCompacted(chunk)).toBe(keys);
      lossy.sent = keys + 10;
      await lossy.store();
      expect(await lossy.removed()).toEqual(none);
    }));

  it('by retention of time, to the last one', () =>
    withLossyRig(
      { name: 'removed_time', topicSettings: { 'retention.ms': '60000' } },
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

  it('by retention of bytes', () =>
    withLossyRig(
      { name: 'removed_bytes', topicSettings: { 'segment.bytes': '1048576' } },
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

  it('and others after they were stored: verify says nothing of those', () =>
    withLossyRig({ name: 'removed_under' }, async (lossy) => {
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
