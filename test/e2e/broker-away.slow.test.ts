import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKafkaClient } from '../../src/kafka/client/kafka-client.ts';
import { ensureTopics } from '../../src/kafka/client/kafka-topics.ts';
import { useStack } from '../containers/stack.ts';
import { benchMessages } from './kit/bench-messages.ts';
import { KafkaCluster } from './kit/kafka-cluster.ts';
import { poll } from './kit/poll.ts';
import type { Rig } from './kit/rig.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
/** The broker that is stopped. */
const AWAY = 3;

let cluster: KafkaCluster;
beforeAll(async () => {
  cluster = await KafkaCluster.start();
});
afterAll(() => cluster.stop());

function onCluster(name: string, use: (rig: Rig) => Promise<void>): Promise<void> {
  return withRig({ stack: { ...stack, brokers: cluster.brokers }, name }, use);
}

/** Creates a topic with a partition on each broker of the list, and no other replica. */
async function createAlone(rig: Rig, topic: string, nodeIds: readonly number[]): Promise<void> {
  const admin = createKafkaClient(rig.config.kafka).admin();
  await admin.connect();
  const replicaAssignment = nodeIds.map((node, partition) => ({ partition, replicas: [node] }));
  await admin.createTopics({ topics: [{ topic, replicaAssignment }] });
  await admin.disconnect();
}

interface Finding {
  readonly ok: boolean;
  readonly warning?: boolean;
  readonly what: string;
  readonly detail: string;
}

async function check(rig: Rig, env: Readonly<Record<string, string>> = {}) {
  const { exitCode, out } = await rig.cli(['check', '--connect', '--json'], {
    env: { ...rig.env, ...env },
  });
  const { findings } = JSON.parse(out) as { findings: Finding[] };
  const topics = findings.filter(({ what }) => what.startsWith('Kafka topic '));
  return { exitCode, topics };
}

describe('a broker that is away', () => {
  it('with the only replica of a topic of somebody else stops nobody', async () => {
    await onCluster('foreign', async (rig) => {
      const { messages } = benchMessages('foreign', 300, 1);
      await createAlone(rig, `${rig.topic}_of_others`, [AWAY]);
      await rig.publish(messages.slice(0, 100).map((value) => ({ value })));
      const running = await rig.start(['ingest', 'detect']);
      await rig.untilConsumed(100);
      const node = cluster.node(AWAY);
      await node.stop();
      try {
        await rig.publish(messages.slice(100, 200).map((value) => ({ value })));
        await rig.untilConsumed(200);
        // As long as the watchdog needs for an outage, and a probe: ready all the time.
        const untilMs = performance.now() + 25_000;
        await poll(
          'the watchdog has looked often enough',
          async () => {
            const response = await fetch(`${running.url}/readyz`);
            expect([response.status, await response.text()]).toEqual([200, 'ready\n']);
            return performance.now() > untilMs ? true : undefined;
          },
          { deadlineMs: 60_000 },
        );
        const started = await rig.start(['ingest', 'detect']);
        await poll('the new process is ready', async () =>
          (await fetch(`${started.url}/readyz`)).status === 200 ? true : undefined,
        );
        await rig.publish(messages.slice(200).map((value) => ({ value })));
        await rig.untilConsumed(300);
        expect(await check(rig)).toEqual({ exitCode: 0, topics: [] });
      } finally {
        await node.start();
      }
    });
  });

  it('with the only replica of one of our partitions stops no other, and that one is read once it is back', async () => {
    await onCluster('own', async (rig) => {
      const topic = `${rig.topic}_own`;
      await createAlone(rig, topic, [1, AWAY, 2]);
      const config = { ...rig.config, kafka: { ...rig.config.kafka, topics: [topic] } };
      const { messages } = benchMessages('own', 2_000, 1);
      let sent = 0;
      const send = (count: number, partition: number) => {
        const values = messages.slice(sent, sent + count);
        sent += count;
        return rig.publish(
          values.map((value) => ({ value, partition })),
          topic,
        );
      };
      const ready = async ({ url }: { readonly url: string | undefined }) => {
        const response = await fetch(`${url}/readyz`);
        return { status: response.status, text: await response.text() };
      };
      for (const partition of [0, 1, 2]) await send(50, partition);
      const first = await rig.start(['ingest'], config);
      await rig.untilConsumed(sent);
      // What is there and was not read yet must wait.
      await first.stop();
      await send(30, 1);
      const unread = 30;
      const node = cluster.node(AWAY);
      await node.stop();
      let isBack = false;
      try {
        const running = await rig.start(['ingest', 'detect'], config);
        // Longer than kafkajs goes on with the metadata that it has.
        const untilMs = performance.now() + 35_000;
        while (performance.now() < untilMs) {
          await send(5, 0);
          await send(5, 2);
          await rig.untilConsumed(sent - unread, 15_000);
        }
        const note = `kafka: ${topic}/1 has no leader: `;
        const { status, text } = await poll('the one is named', async () => {
          const answer = await ready(running);
          return answer.text.includes(note) ? answer : undefined;
        });
        expect([status, text.split('\n', 1)[0]]).toEqual([200, 'ready']);
        expect(await (await fetch(`${running.url}/metrics`)).text()).toContain(
          '\ntailmark_kafka_partitions_leaderless{role="ingest"} 1\n',
        );
        const named = rig.logLines.filter((line) => line.includes('partitions have no leader'));
        expect(named).toHaveLength(1);
        isBack = true;
        await node.start();
        await rig.untilConsumed(sent);
        await send(20, 1);
        await rig.untilConsumed(sent);
        await poll('it is no longer named', async () =>
          (await ready(running)).text === 'ready\n' ? true : undefined,
        );
        expect(await rig.consumed()).toBe(sent);
      } finally {
        if (!isBack) await node.start();
      }
    });
  });

  it('with the only replica of a topic of ours is named by check', async () => {
    await onCluster('ours', async (rig) => {
      const topic = `${rig.topic}_alone`;
      await createAlone(rig, topic, [1, AWAY]);
      const env = { TAILMARK_KAFKA_TOPICS: topic };
      expect(await check(rig, env)).toEqual({
        exitCode: 0,
        topics: [
          {
            ...{ ok: true, warning: true, what: `Kafka topic ${topic}` },
            detail:
              'has a single replica, and the cluster has 3 brokers: it is gone while one of them is',
            hint: 'Add replicas (kafka-reassign-partitions.sh). kafka.replication_factor is for topics that tailmark creates.',
          },
        ],
      });
      const node = cluster.node(AWAY);
      await node.stop();
      try {
        expect(await check(rig, env)).toEqual({
          exitCode: 69,
          topics: [
            {
              ...{ ok: false, what: `Kafka topic ${topic}`, code: 'TAILMARK_KAFKA_UNREACHABLE' },
              detail: 'partition 1 must have a leader; its replicas are on brokers that are down',
              hint: 'Start the brokers that have its replicas (kafka-topics.sh --describe names them).',
            },
          ],
        });
      } finally {
        await node.start();
      }
    });
  });
});

describe('a topic that tailmark creates', () => {
  it('has three replicas, or as many as the configuration says', async () => {
    await onCluster('replicas', async (rig) => {
      const replicas = async (topic: string) => {
        const admin = createKafkaClient(rig.config.kafka).admin();
        await admin.connect();
        const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
        await admin.disconnect();
        return topics[0]?.partitions.map((each) => each.replicas.length);
      };
      expect(await replicas(rig.topic)).toEqual([3]);
      const topic = `${rig.topic}_two`;
      await ensureTopics({ ...rig.config.kafka, replication_factor: 2 }, [{ topic }]);
      expect(await replicas(topic)).toEqual([2]);
    });
  });
});
