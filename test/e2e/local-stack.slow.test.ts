import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Kafka, logLevel } from 'kafkajs';
import { describe, expect, it } from 'vitest';
import { queryClickHouse } from '../../src/local/clickhouse/clickhouse-server.ts';
import { startLocalStack } from '../../src/local/stack/local-stack.ts';
import { pollUntil } from '../local/poll-until.ts';
import {
  configOf,
  type Endpoints,
  isRunning,
  portOf,
  stopDeadlineMs,
  useLocalStacks,
} from './kit/local-stacks.ts';
import { presentTopics } from './kit/present-topics.ts';

const { dir, output, up, start, stop } = useLocalStacks();

function kafkaOf(brokers: string[]): Kafka {
  return new Kafka({ brokers, logLevel: logLevel.NOTHING });
}

async function produce(brokers: string[], topic: string, value: Buffer | string): Promise<void> {
  const admin = kafkaOf(brokers).admin();
  await admin.connect();
  await admin.createTopics({ topics: [{ topic, numPartitions: 1 }] });
  await admin.disconnect();
  const producer = kafkaOf(brokers).producer();
  await producer.connect();
  await producer.send({ topic, messages: [{ value }] });
  await producer.disconnect();
}

async function endOffset(brokers: string[], topic: string): Promise<string | undefined> {
  const admin = kafkaOf(brokers).admin();
  await admin.connect();
  const [offsets] = await admin.fetchTopicOffsets(topic);
  await admin.disconnect();
  return offsets?.high;
}

/** Reads the first message of a topic; returns its size. */
async function sizeOfFirst(brokers: string[], topic: string): Promise<number | undefined> {
  const consumer = kafkaOf(brokers).consumer({ groupId: topic });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  const sizeBytes = await new Promise<number | undefined>((resolve) => {
    void consumer.run({ eachMessage: async ({ message }) => resolve(message.value?.length) });
  });
  await consumer.disconnect();
  return sizeBytes;
}

describe('tailmark up', () => {
  it('leaves nothing running when it is killed, and starts again at once in the same place', async () => {
    const started = await up();
    const before = JSON.parse(output.out) as Endpoints;
    started.kill('SIGKILL');
    await once(started, 'exit');
    const after = await start();
    expect(isRunning(before.kafka.pid) || isRunning(before.clickhouse.pid)).toBe(false);
    expect(after.kafka.brokers).toEqual(before.kafka.brokers);
    expect(after.clickhouse.url).toBe(before.clickhouse.url);
  });

  it.each(['kafka', 'clickhouse'] as const)(
    'reports it and ends with 69 if %s dies',
    async (part) => {
      const started = await up();
      const endpoints = JSON.parse(output.out) as Endpoints;
      process.kill(endpoints[part].pid, 'SIGKILL');
      await pollUntil('tailmark up has ended', () => started.exitCode !== null, stopDeadlineMs);
      expect(started.exitCode).toBe(69);
      expect(output.err).toContain('unexpectedly');
      expect(isRunning(endpoints.kafka.pid) || isRunning(endpoints.clickhouse.pid)).toBe(false);
    },
  );
});

describe('the local stack', () => {
  it('takes a message of 50 MB, keeps its data over a restart, wipes it when fresh, and shows why it fails', async () => {
    const first = await start();
    await produce(first.kafka.brokers, 'large', Buffer.alloc(50_000_000, 'x'));
    await produce(first.kafka.brokers, 'kept', 'hello');
    const create = 'CREATE TABLE tailmark.kept ENGINE = MergeTree ORDER BY n AS SELECT 7 AS n';
    await queryClickHouse(portOf(first.clickhouse.url), create);
    await stop();

    const second = await start();
    expect(second.kafka.brokers).toEqual(first.kafka.brokers);
    expect(await endOffset(second.kafka.brokers, 'kept')).toBe('1');
    expect(await sizeOfFirst(second.kafka.brokers, 'large')).toBe(50_000_000);
    const select = 'SELECT n FROM tailmark.kept';
    expect(await queryClickHouse(portOf(second.clickhouse.url), select)).toBe('7\n');
    await stop();

    writeFileSync(join(dir(), 'mine.txt'), 'not of the local stack');
    const third = await start({ fresh: true });
    expect(await presentTopics(configOf(third.kafka.brokers), ['large', 'kept'])).toEqual([]);
    const tables = "SELECT count() FROM system.tables WHERE database = 'tailmark'";
    expect(await queryClickHouse(portOf(third.clickhouse.url), tables)).toBe('0\n');
    expect(readdirSync(dir())).toContain('mine.txt');
    await stop();

    // Storage that cannot be read: the last lines of the log say why.
    writeFileSync(join(dir(), 'kafka', 'data', 'meta.properties'), 'damaged');
    await expect(startLocalStack({ dir: dir() })).rejects.toMatchObject({
      code: 'TAILMARK_LOCAL_START_FAILED',
      exitCode: 69,
      message: expect.stringMatching(
        /^Cannot start Kafka: .*ended with code 1\n(?:.*\n)*.*node ID not found/,
      ),
    });
  });
});
