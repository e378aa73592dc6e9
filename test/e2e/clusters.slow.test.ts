import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Admin } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Config } from '../../src/config/schema.ts';
import { createKafkaClient } from '../../src/kafka/client/kafka-client.ts';
import { openKafkaPublisher } from '../../src/kafka/client/kafka-publisher.ts';
import { ensureTopics } from '../../src/kafka/client/kafka-topics.ts';
import type { OutgoingMessage } from '../../src/kafka/client/publisher.ts';
import { type KafkaBroker, startKafka } from '../../src/local/kafka/kafka-broker.ts';
import { useStack } from '../containers/stack.ts';
import { benchMessages } from './kit/bench-messages.ts';
import type { Rig } from './kit/rig.ts';
import { both } from './kit/stage-sums.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
const settings = { INGEST_FLUSH_MAX_EVENTS: '500' };
let dir = '';
let other: KafkaBroker | undefined;

// Another cluster, beside that of all other tests.
beforeAll(async () => {
  if (stack.kind !== 'local') return;
  dir = mkdtempSync(join(tmpdir(), 'tailmark-cluster-'));
  other = await startKafka({ dataDir: dir, onProgress: () => undefined });
});
afterAll(async () => {
  await other?.stop();
  if (dir !== '') rmSync(dir, { recursive: true, force: true });
});

const inOne = (messages: readonly Buffer[]) => messages.map((value) => ({ value, partition: 0 }));

/** The rig's configuration on the other cluster, where its topic exists. */
async function elsewhere(rig: Rig, messages: OutgoingMessage[]): Promise<Config> {
  const kafka = { ...rig.config.kafka, brokers: other?.brokers ?? [] };
  await ensureTopics(kafka, [{ topic: rig.topic }]);
  const publisher = await openKafkaPublisher(kafka);
  await publisher.publish(rig.topic, messages);
  await publisher.close();
  return { ...rig.config, kafka };
}

async function withAdmin<T>(config: Config, use: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = createKafkaClient(config.kafka).admin();
  await admin.connect();
  try {
    return await use(admin);
  } finally {
    await admin.disconnect();
  }
}

/** Logs of the ledger with their offsets and events. */
const logs = (rig: Rig) =>
  rig.rows<{ cluster: string; chunks: string }>(
    `SELECT substringIndex(log_id, '/', 1) AS cluster, toString(min(start_offset)) AS first,
            toString(max(end_offset)) AS last, toString(sum(consumed)) AS events
     FROM flushes GROUP BY log_id ORDER BY min(flushed_at)`,
  );

const clusterId = (config: Config) =>
  withAdmin(config, async (admin) => (await admin.describeCluster()).clusterId);

describe.runIf(stack.kind === 'local')('two clusters with one topic name', () => {
  it.each([
    ['one group', ''],
    ['a group each', '_there'],
  ])('are stored side by side by %s', (_, ending) =>
    withRig({ stack, name: 'two-clusters', settings }, async (rig) => {
      const here = benchMessages('two clusters 1', 3_000, 10);
      const there = benchMessages('two clusters 2', 2_000, 10);
      await rig.publish(inOne(here.messages));
      const { kafka, ...rest } = await elsewhere(rig, inOne(there.messages));
      const config = { ...rest, kafka: { ...kafka, group_id: `${kafka.group_id}${ending}` } };
      await rig.start(['ingest']);
      await rig.untilConsumed(here.events);
      await rig.start(['ingest'], config);
      await rig.untilConsumed(here.events + there.events);
      await rig.expectStages(both(here.truth, there.truth));
      const found = await logs(rig);
      expect(found).toHaveLength(2);
      expect(found).toEqual(
        expect.arrayContaining([
          { cluster: await clusterId(rig.config), first: '0', last: '300', events: '3000' },
          { cluster: await clusterId(config), first: '0', last: '200', events: '2000' },
        ]),
      );
    }),
  );
});

describe.runIf(stack.kind === 'local')('a topic that moved to another cluster', () => {
  it('is read there from its beginning, whatever was stored of the other', () =>
    withRig({ stack, name: 'moved', settings }, async (rig) => {
      const before = benchMessages('moved 1', 3_000, 10);
      const after = benchMessages('moved 2', 1_000, 10);
      await rig.publish(inOne(before.messages));
      const first = await rig.start(['ingest']);
      await rig.untilConsumed(before.events);
      await first.stop();
      // Its records keep their timestamps, as a mirror writes them: those of before.
      const config = await elsewhere(
        rig,
        inOne(after.messages).map((message) => ({ ...message, timestampMs: 1_700_000_000_000 })),
      );
      await rig.start(['ingest'], config);
      await rig.untilConsumed(before.events + after.events);
      await rig.expectStages(both(before.truth, after.truth));
      const assigned = rig.logLines.filter((line) => line.includes('partition assigned'));
      const [here, there] = await Promise.all([rig.config, config].map(clusterId));
      expect(assigned.map((line) => JSON.parse(line))).toMatchObject([
        { level: 30, log_id: expect.stringMatching(`^${here}/`) },
        {
          ...{ level: 40, reason: 'start_from' },
          log_id: expect.stringMatching(`^${there}/`),
          known_log_id: expect.stringMatching(`^${here}/`),
          msg: expect.stringContaining('the ledger has it from another log'),
        },
      ]);
    }));

  it('is read from the offset that was copied with its metadata', () =>
    withRig({ stack, name: 'mirrored', settings }, async (rig) => {
      const before = benchMessages('mirrored 1', 3_000, 10);
      const after = benchMessages('mirrored 2', 1_000, 10);
      await rig.publish(inOne(before.messages));
      const first = await rig.start(['ingest']);
      await rig.untilConsumed(before.events);
      await first.stop();
      const config = await elsewhere(rig, inOne([...before.messages, ...after.messages]));
      const groupId = rig.config.kafka.group_id;
      const query = { groupId, topics: [rig.topic] };
      const [found] = await withAdmin(rig.config, (admin) => admin.fetchOffsets(query));
      await withAdmin(config, (admin) =>
        admin.setOffsets({ groupId, topic: rig.topic, partitions: found?.partitions ?? [] }),
      );
      await rig.start(['ingest'], config);
      await rig.untilConsumed(before.events + after.events);
      await rig.expectStages(both(before.truth, after.truth));
      expect((await logs(rig)).map(({ cluster: _, ...range }) => range)).toEqual([
        { first: '0', last: '300', events: '3000' },
        { first: '300', last: '400', events: '1000' },
      ]);
    }));
});
