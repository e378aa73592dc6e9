import kafkajs, { type Admin } from 'kafkajs';
import { expect } from 'vitest';
import { createMetrics } from '../../../src/base/telemetry/metrics.ts';
import { createKafkaClient } from '../../../src/kafka/client/kafka-client.ts';
import { ensureTopics } from '../../../src/kafka/client/kafka-topics.ts';
import { OffsetReader } from '../../../src/kafka/offset-reader.ts';
import type { Chunk, LedgerEntry } from '../../../src/sink/chunks/chunk.ts';
import type { ChunkStore } from '../../../src/sink/chunks/chunk-store.ts';
import type { Verification } from '../../../src/sink/verify.ts';
import { ledgerState } from '../../../src/views/pipeline/ledger-state.ts';
import { callsOf } from './calls-of.ts';
import { poll } from './poll.ts';
import { presentTopics } from './present-topics.ts';
import { Rig, type RigOptions } from './rig.ts';
import { startIngester } from './start-ingester.ts';

const { ConfigResourceTypes } = kafkajs;
/** Events of a full chunk; each message is an event. */
export const chunk = 50;
/** Different keys: compaction keeps the last record of each. */
export const keys = 5;
/** For a machine that has other things to do. */
export const slow = { deadlineMs: 120_000 };

export type Step =
  | 'before the intent'
  | 'before the insert'
  | 'after the insert'
  | 'after the ledger'
  | 'without a server';

/** A rig that has lost events, and the number of events that were sent to it. */
export class LossyRig {
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

export async function withLossyRig(
  options: Omit<RigOptions, 'settings'>,
  use: (lossy: LossyRig) => Promise<void>,
): Promise<void> {
  const settings = { INGEST_FLUSH_MAX_EVENTS: String(chunk) };
  const rig = await Rig.open({ settings, ...options });
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

/** Of a topic whose old records are compacted at once. */
export const compacted = { 'cleanup.policy': 'compact', 'segment.ms': '200' };
