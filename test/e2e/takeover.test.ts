import type { Admin } from 'kafkajs';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { decodeMetadata } from '../../src/ingest/commit-metadata.ts';
import type { Ingester } from '../../src/ingest/ingester.ts';
import { createKafkaClient } from '../../src/kafka/client/kafka-client.ts';
import { openKafkaPublisher } from '../../src/kafka/client/kafka-publisher.ts';
import { ensureTopics } from '../../src/kafka/client/kafka-topics.ts';
import type { ChunkStore } from '../../src/sink/chunks/chunk-store.ts';
import { useStack } from '../containers/stack.ts';
import { benchMessages } from './kit/bench-messages.ts';
import { poll } from './kit/poll.ts';
import { untilGone } from './kit/present-topics.ts';
import { Rig, type RigOptions } from './kit/rig.ts';
import { both, stageSums } from './kit/stage-sums.ts';
import { startIngester } from './kit/start-ingester.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
const { concurrent } = describe;
const settings = { INGEST_FLUSH_MAX_EVENTS: '500' };

const inOne = (messages: readonly Buffer[], partition = 0) =>
  messages.map((value) => ({ value, partition }));

async function withAdmin<T>(rig: Rig, use: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = createKafkaClient(rig.config.kafka).admin();
  await admin.connect();
  try {
    return await use(admin);
  } finally {
    await admin.disconnect();
  }
}

/** The group's commit for a partition: the offset, -1 for none, and the metadata. */
function committed(rig: Rig, partition = 0) {
  return withAdmin(rig, async (admin) => {
    const query = { groupId: rig.config.kafka.group_id, topics: [rig.topic] };
    const [topic] = await admin.fetchOffsets(query);
    const found = topic?.partitions.find((entry) => entry.partition === partition);
    return { offset: Number(found?.offset ?? -1), note: decodeMetadata(found?.metadata ?? '') };
  });
}

/** Ingests until everything is stored, and stops in good order. */
async function ingestAll(rig: Rig, events: number): Promise<void> {
  const pipeline = await rig.start(['ingest']);
  await rig.untilConsumed(events);
  await pipeline.stop();
}

/** A process that dies in its first chunk, with its rows landed or not, and no ledger row. */
async function diesInFirstChunk(rig: Rig, how: 'landed' | 'not landed'): Promise<Ingester> {
  let isReached = false;
  const never = () => new Promise<never>(() => undefined);
  const wrapStore = (store: ChunkStore): ChunkStore => ({
    insert: async (chunk) => {
      if (how === 'landed') await store.insert(chunk);
      isReached = true;
      await never();
    },
    record: never,
    missing: (chunk, sinceMs) => store.missing(chunk, sinceMs),
    fill: (...chunk) => store.fill(...chunk),
    inspect: (entry, sinceMs) => store.inspect(entry, sinceMs),
    ledgerEnds: (...partition) => store.ledgerEnds(...partition),
    groupBeginMs: (...topic) => store.groupBeginMs(...topic),
  });
  const dying = await startIngester(rig, { wrapStore, sealsOnlyFull: true });
  await poll('its first chunk is pending', () => (isReached ? true : undefined));
  await dying.abandon();
  expect((await committed(rig)).note?.intent?.endOffset).toBe(50);
  return dying;
}

const ranges = (rig: Rig, partition = 0) =>
  rig
    .rows<{ start_offset: string; end_offset: string }>(
      `SELECT start_offset, end_offset FROM flushes WHERE partition = {partition:UInt32}
       ORDER BY flushed_at, start_offset`,
      { partition },
    )
    .then((rows) => rows.map((row) => [Number(row.start_offset), Number(row.end_offset)]));

concurrent('a group whose commits are gone', () => {
  it('continues where its ledger ends', () =>
    withRig({ stack, name: 'expired', settings }, async (rig) => {
      const first = benchMessages('expired 1', 2_000, 10);
      const second = benchMessages('expired 2', 1_500, 10);
      await rig.publish(inOne(first.messages));
      await ingestAll(rig, first.events);
      await withAdmin(rig, (admin) => admin.deleteGroups([rig.config.kafka.group_id]));
      expect((await committed(rig)).offset).toBe(-1);
      await rig.publish(inOne(second.messages));
      await ingestAll(rig, first.events + second.events);
      await rig.expectStages(both(first.truth, second.truth));
    }));
});

concurrent('a topic that was deleted and recreated', () => {
  it.each(['without a reader', 'under a reader'])('%s is read from its beginning', (when) =>
    withRig({ stack, name: 'anew', settings }, async (rig) => {
      const first = benchMessages('anew 1', 2_000, 10);
      const second = benchMessages('anew 2', 1_000, 10);
      await rig.publish(inOne(first.messages));
      const reader = when === 'under a reader' ? await rig.start(['ingest']) : undefined;
      if (reader === undefined) await ingestAll(rig, first.events);
      else await rig.untilConsumed(first.events);

      await withAdmin(rig, async (admin) => {
        await admin.deleteTopics({ topics: [rig.topic] });
        await untilGone(rig.config.kafka, rig.topic);
      });
      await ensureTopics(rig.config.kafka, [{ topic: rig.topic }]);
      await rig.publish(inOne(second.messages));
      if (reader === undefined) await ingestAll(rig, first.events + second.events);
      else {
        await rig.untilConsumed(first.events + second.events);
        await reader.stop();
      }
      await rig.expectStages(both(first.truth, second.truth));
      expect((await ranges(rig)).filter(([start]) => start === 0)).toHaveLength(2);
      // Whether somebody had written more to the old one, nobody can say.
      expect((await rig.cli(['verify'])).out).toContain(
        'exactly once: verified for all that was read; 1 log was deleted with a topic, and what nobody had ' +
          'read of it is not known\n',
      );
    }),
  );
});

/** A rig whose ledger need not verify. */
async function withGappyRig(options: RigOptions, use: (rig: Rig) => Promise<void>) {
  const rig = await Rig.open(options);
  try {
    await use(rig);
    await rig.stopAll();
  } finally {
    await rig.close();
  }
}

const deleteUpTo = (rig: Rig, offset: number, partition = 0) =>
  withAdmin(rig, async (admin) => {
    // kafkajs must know the topic first.
    await admin.fetchTopicOffsets(rig.topic);
    await admin.deleteTopicRecords({
      topic: rig.topic,
      partitions: [{ partition, offset: String(offset) }],
    });
  });

concurrent('records that retention has removed', () => {
  it('before they were read are a range of the ledger, and nothing else is missing', () =>
    withGappyRig({ stack, name: 'retention', settings }, async (rig) => {
      const first = benchMessages('retention 1', 1_000, 10);
      const gone = benchMessages('retention 2', 300, 10);
      const rest = benchMessages('retention 3', 1_000, 10);
      await rig.publish(inOne(first.messages));
      await ingestAll(rig, first.events);
      await rig.publish(inOne([...gone.messages, ...rest.messages]));
      await deleteUpTo(rig, 130);
      await ingestAll(rig, first.events + rest.events);
      await rig.expectStages(both(first.truth, rest.truth));
      expect(rig.tail()).toContain('retention has removed records that were not read');
      const { out } = await rig.cli(['verify', '--json']);
      expect(JSON.parse(out)).toMatchObject({
        ok: false,
        removed: { events: 0, offsets: 30 },
        problems: [
          {
            ...{ kind: 'removed_unread', topic: rig.topic, partition: 0, amount: 30 },
            ...{ start_offset: 100, from_offset: 100, to_offset: 130 },
          },
        ],
      });
    }));

  it('of a chunk that had landed make no difference: it counts as it was', () =>
    withRig({ stack, name: 'landed', settings }, async (rig) => {
      const { messages, events, truth } = benchMessages('landed', 2_000, 10);
      await rig.publish(inOne(messages));
      await diesInFirstChunk(rig, 'landed');
      await deleteUpTo(rig, 50);
      await ingestAll(rig, events);
      await rig.expectStages(truth);
      const [first] = await rig.rows('SELECT records, consumed FROM flushes WHERE end_offset = 50');
      expect(first).toEqual({ records: 50, consumed: 500 });
    }));
});

/** Adds partition 1, and sends messages to it. */
async function addPartition(rig: Rig, messages: readonly Buffer[]): Promise<void> {
  await withAdmin(rig, (admin) =>
    admin.createPartitions({ topicPartitions: [{ topic: rig.topic, count: 2 }] }),
  );
  // A producer without metadata of the partition would drop the messages. So it is a new one, created
  // when the broker itself has that metadata.
  await withAdmin(rig, (admin) =>
    poll('the partition is there', async () => {
      const { topics } = await admin.fetchTopicMetadata({ topics: [rig.topic] });
      const led = topics[0]?.partitions.filter(({ leader }) => leader >= 0);
      return led?.length === 2 ? true : undefined;
    }),
  );
  const publisher = await openKafkaPublisher(rig.config.kafka);
  await publisher.publish(rig.topic, inOne(messages, 1));
  await publisher.close();
  const ends = await withAdmin(rig, (admin) => admin.fetchTopicOffsets(rig.topic));
  const written = ends.find(({ partition }) => partition === 1)?.high;
  expect(written, 'messages were dropped').toBe(String(messages.length));
}

concurrent('a partition that is added', () => {
  it('is read from its beginning by a group that reads from the latest', () =>
    withRig(
      { stack, name: 'added', settings: { ...settings, KAFKA_START_FROM: 'latest' } },
      async (rig) => {
        const before = benchMessages('added 0', 500, 10);
        const first = benchMessages('added 1', 1_000, 10);
        const second = benchMessages('added 2', 1_000, 10);
        await rig.publish(inOne(before.messages));
        const pipeline = await rig.start(['ingest']);
        // Records from before the group are not read, and the group's position is kept.
        await poll('its place is kept', async () =>
          (await committed(rig)).offset === 50 ? true : undefined,
        );
        await rig.publish(inOne(first.messages));
        await rig.untilConsumed(first.events);
        await addPartition(rig, second.messages);
        await rig.untilConsumed(first.events + second.events);
        await pipeline.stop();
        await rig.expectStages(both(first.truth, second.truth));
        expect((await ranges(rig, 1))[0]?.[0]).toBe(0);
      },
    ));

  it('while nobody reads, and loses records, has them in the ledger as removed', () =>
    withGappyRig({ stack, name: 'added-lossy', settings }, async (rig) => {
      const first = benchMessages('added lossy 0', 1_000, 10);
      const second = benchMessages('added lossy 1', 1_000, 10);
      await rig.publish(inOne(first.messages));
      await ingestAll(rig, first.events);
      await addPartition(rig, second.messages);
      await deleteUpTo(rig, 60, 1);
      const later = { ...systemClock, nowMs: () => systemClock.nowMs() + 2 * 3_600_000 };
      const ingester = await startIngester(rig, { clock: later });
      await poll('partition 1 is stored', async () => {
        return (await ranges(rig, 1)).at(-1)?.[1] === second.messages.length ? true : undefined;
      });
      await ingester.drain();
      const { out } = await rig.cli(['verify', '--json']);
      expect(JSON.parse(out)).toMatchObject({
        ok: false,
        totals: { consumed: first.events + second.events - 600 },
        removed: { events: 0, offsets: 60 },
        problems: [
          {
            ...{ kind: 'removed_unread', topic: rig.topic, partition: 1, amount: 60 },
            ...{ from_offset: 0, to_offset: 60 },
          },
        ],
      });
    }));
});

concurrent('a chunk that landed, and whose token is forgotten', () => {
  it('is not inserted again', () =>
    withRig({ stack, name: 'forgotten', settings }, async (rig) => {
      const { messages, events, truth } = benchMessages('forgotten', 2_000, 10);
      await rig.publish(inOne(messages));
      await diesInFirstChunk(rig, 'landed');
      for (const table of [
        'chunk_landings',
        'latency_10s',
        'latency_1m',
        'latency_1h',
        'latency_1d',
      ]) {
        await rig.client.command({
          query:
            'ALTER TABLE {table:Identifier} MODIFY SETTING non_replicated_deduplication_window = 0',
          query_params: { table },
        });
      }
      const stored = await stageSums(rig.client, '10s');
      expect(stored.total?.requests).toBe(500);
      const { out } = await rig.cli(['check', '--connect', '--json']);
      expect(out).toContain('chunk_landings (0), latency_10s (0), latency_1d (0)');
      await ingestAll(rig, events);
      await rig.expectStages(truth);
    }));
});

concurrent('a successor with another configuration', () => {
  it('makes the chunk that it takes over as its predecessor would have', () =>
    withRig({ stack, name: 'reconfigured', settings }, async (rig) => {
      const { messages, events, truth } = benchMessages('reconfigured', 1_000, 10);
      await rig.publish(inOne(messages));
      await diesInFirstChunk(rig, 'not landed');
      const windows = { ...rig.config.windows, dimensions: ['model' as const] };
      const pipeline = await rig.start(['ingest'], { ...rig.config, windows });
      await rig.untilConsumed(events);
      await pipeline.stop();
      await rig.expectStages(truth);
      expect((await ranges(rig, 0)).map(([start]) => start)).toEqual([0, 50]);
      // Only the first chunk has regions.
      const [requests] = await rig.rows<{ with_region: string; without: string }>(
        `SELECT sumIf(requests, region != '') AS with_region, sumIf(requests, region = '') AS without
         FROM latency_10s WHERE stage = 'total'`,
      );
      expect([requests?.with_region, requests?.without].map(Number)).toEqual([500, 500]);
    }));
});

concurrent('aborted transactions', () => {
  it('at the position of a takeover are skipped, and committed records count once', () =>
    withRig({ stack, name: 'aborted', settings }, async (rig) => {
      const first = benchMessages('aborted 1', 500, 10);
      const dropped = benchMessages('aborted 2', 300, 10);
      const second = benchMessages('aborted 3', 1_000, 10);
      const producer = createKafkaClient(rig.config.kafka).producer({
        transactionalId: rig.topic,
        maxInFlightRequests: 1,
        idempotent: true,
      });
      await producer.connect();
      const send = async (messages: readonly Buffer[], end: 'commit' | 'abort') => {
        const transaction = await producer.transaction();
        await transaction.send({ topic: rig.topic, messages: inOne(messages) });
        await transaction[end]();
      };
      await send(first.messages, 'commit');
      await ingestAll(rig, first.events);
      await send(dropped.messages, 'abort');
      await send(dropped.messages, 'abort');
      await send(second.messages, 'commit');
      await producer.disconnect();
      await ingestAll(rig, first.events + second.events);
      await rig.expectStages(both(first.truth, second.truth));
    }));
});
