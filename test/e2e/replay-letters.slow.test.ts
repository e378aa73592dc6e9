import kafkajs from 'kafkajs';
import { describe, expect, it } from 'vitest';
import { createKafkaClient } from '../../src/kafka/client/kafka-client.ts';
import { ensureTopics } from '../../src/kafka/client/kafka-topics.ts';
import { TransactionalPublisher } from '../../src/kafka/client/transactional-publisher.ts';
import { useStack } from '../containers/stack.ts';
import { untilGone } from './kit/present-topics.ts';
import type { Rig } from './kit/rig.ts';
import { withRig } from './kit/with-rig.ts';

const { ConfigResourceTypes } = kafkajs;
const stack = useStack();
const settings = { INGEST_PAUSE_ABOVE_REJECTED: '1' };
const event = (tsMs: number) => JSON.stringify({ ts: tsMs, model: 'm', stages_ms: { forward: 2 } });
const soon = () => Date.now() + 1_800_000;

/** Ingests what the topic has, so many events, and stops. */
async function ingest(rig: Rig, events: number, maxFutureMs?: number): Promise<void> {
  const { windows } = rig.config;
  const config =
    maxFutureMs === undefined
      ? rig.config
      : { ...rig.config, windows: { ...windows, max_future: maxFutureMs } };
  const pipeline = await rig.start(['ingest'], config);
  await rig.untilConsumed(events);
  await pipeline.stop();
}

async function replay(rig: Rig, ...flags: string[]): Promise<Record<string, unknown>> {
  const { out, err, exitCode } = await rig.cli(['replay', '--dead-letters', '--json', ...flags]);
  expect({ err, exitCode }).toEqual({ err: '', exitCode: 0 });
  const { group: _, ...counts } = JSON.parse(out) as Record<string, unknown>;
  return counts;
}

const none = { other_reason: 0, gone: 0, other_log: 0, without_letter: 0, left: 0 };

describe('tailmark replay --dead-letters', () => {
  it('sends rejected events to their partitions once more, each once, over two runs', () =>
    withRig({ stack, name: 'replay_letters', partitions: 2, settings }, async (rig) => {
      const now = Date.now();
      const many = [event(now), event(soon()), '{"model":"no ts"}', event(soon())];
      await rig.publish([
        { partition: 0, value: event(now) },
        { partition: 1, value: `[${many.join(',')}]` },
        { partition: 1, value: event(soon()) },
      ]);
      await ingest(rig, 6);

      const due = { replayed: 3, by_reason: { future: 3 }, ...none, other_reason: 1 };
      expect(await replay(rig, '--dry-run')).toEqual(due);
      expect(await replay(rig)).toEqual(due);
      const again = await rig.read(rig.topic, 6);
      const sent = again.filter(({ headers }) => 'tailmark-replayed-from' in headers);
      expect(sent.map(({ partition, value }) => [partition, String(value)])).toEqual([
        [1, many[1]],
        [1, many[3]],
        [1, expect.stringContaining('"model":"m"')],
      ]);
      expect(sent.map(({ headers }) => headers['tailmark-replayed-from'])).toEqual(
        ['0/1', '0/3', '1/0'].map((place) => `${rig.topic}/1/${place}`),
      );

      await ingest(rig, 9, 3_600_000);
      const [counts] = await rig.rows<{ good: unknown; bad: unknown }>(
        'SELECT sum(aggregated) AS good, sum(rejected) AS bad FROM flushes',
      );
      expect([Number(counts?.good), Number(counts?.bad)]).toEqual([5, 4]);
      await rig.expectVerified();
      expect(await replay(rig)).toEqual({ replayed: 0, by_reason: {}, ...none });
      // Each reason has a place of its own.
      expect(await replay(rig, '--reason', 'missing_ts,future')).toMatchObject({
        replayed: 1,
        by_reason: { missing_ts: 1 },
      });
      expect(await replay(rig, '--reason', 'missing_ts')).toMatchObject({ replayed: 0 });
    }));

  it('keeps its place by group: another one is refused where letters were replayed', () =>
    withRig({ stack, name: 'replay_groups', settings }, async (rig) => {
      await rig.publish([{ value: event(soon()) }, { value: event(soon()) }]);
      await ingest(rig, 2);
      const own = rig.config.kafka.group_id;
      // Without an earlier replay any group may begin: it sends each event once.
      const began = await rig.cli(['replay', '--dead-letters', '--group', `${own}.a`]);
      expect([began.exitCode, began.out]).toEqual([
        0,
        expect.stringContaining(`Its place in the dead letters is that of group ${own}.a.\n`),
      ]);
      expect(began.out).toContain('Replayed 2 rejected events');
      for (const dryRun of [[], ['--dry-run']]) {
        const refused = await rig.cli(['replay', '--dead-letters', ...dryRun]);
        expect([refused.exitCode, refused.out]).toEqual([78, '']);
        expect(refused.err).toContain('TAILMARK_GROUP_CONFLICT');
        expect(refused.err).toContain(
          `it is ${own}, which has never replayed ${rig.topic}.dlq; group ${own}.a has`,
        );
        expect(refused.err).toContain(`--group ${own}.a goes on where that one ended`);
      }
      const json = await rig.cli(['replay', '--dead-letters', '--json', '--group', `${own}.a`]);
      expect(JSON.parse(json.out)).toMatchObject({ group: `${own}.a`, replayed: 0 });
      expect(await replay(rig, '--new-group', '--dry-run')).toMatchObject({ replayed: 2 });
    }));

  it('of two at a time, the first sends nothing more', () =>
    withRig({ stack, name: 'replay_two' }, async (rig) => {
      const { kafka } = rig.config;
      const open = async () => {
        const publisher = await TransactionalPublisher.open(kafka, `${kafka.group_id}.replay`);
        rig.atEnd(() => publisher.close());
        return publisher;
      };
      const { topic } = rig;
      const message = { partition: 0, value: event(Date.now()) };
      const publish = (publisher: TransactionalPublisher) =>
        publisher.publish(
          new Map([[topic, [message]]]),
          new Map([['g', [{ topic, partition: 0, offset: 1 }]]]),
        );
      const first = await open();
      await publish(first);
      const second = await open();
      await expect(publish(first)).rejects.toThrow(/newer producer|old epoch/);
      await publish(second);
      await ingest(rig, 2);
      expect(await rig.consumed()).toBe(2);
    }));

  it('goes on with offsets alone right after another transaction', () =>
    withRig({ stack, name: 'replay_soon', partitions: 6 }, async (rig) => {
      const { topic } = rig;
      const { kafka } = rig.config;
      const publisher = await TransactionalPublisher.open(kafka, `${kafka.group_id}.replay`);
      rig.atEnd(() => publisher.close());
      const messages = Array.from({ length: 6 }, (_, partition) => ({ partition, value: '{}' }));
      for (let offset = 1; offset <= 10; offset++) {
        const reached = new Map([['g', [{ topic, partition: 0, offset }]]]);
        await publisher.publish(new Map([[topic, messages]]), reached);
        await publisher.publish(new Map(), reached);
      }
      expect(await rig.read(topic, 60)).toHaveLength(60);
    }));

  it('says how many were sent and committed where it fails, and goes on there', () =>
    withRig(
      {
        stack,
        name: 'replay_fails',
        settings: { ...settings, LIMITS_MAX_DEAD_LETTERS_PER_SECOND: '10000' },
      },
      async (rig) => {
        // The first transaction is of 500 letters.
        await rig.publish([
          { value: event(soon()) },
          { value: `[${Array.from({ length: 499 }, () => '{"model":"no ts"}').join(',')}]` },
          { value: event(soon()).replace('{', `{${' '.repeat(5_000)}`) },
        ]);
        await ingest(rig, 501);
        const { topic } = rig;
        const admin = createKafkaClient(rig.config.kafka).admin();
        await admin.connect();
        rig.atEnd(() => admin.disconnect());
        const limitTo = (bytes: string) => {
          const configEntries = [{ name: 'max.message.bytes', value: bytes }];
          const resources = [{ type: ConfigResourceTypes.TOPIC, name: topic, configEntries }];
          return admin.alterConfigs({ validateOnly: false, resources });
        };
        await limitTo('2000');
        const failed = await rig.cli(['replay', '--dead-letters']);
        expect([failed.exitCode, failed.out]).toEqual([69, '']);
        expect(failed.err).toContain('; sent and committed before that: 1 events');
        expect(failed.err).toContain('Run the command again: it goes on after what was committed');
        await limitTo('100000');
        expect(await replay(rig)).toMatchObject({ replayed: 1, by_reason: { future: 1 } });
        expect(await rig.read(topic, 5)).toHaveLength(5);
      },
    ));

  it('counts events that never had a letter', () =>
    withRig(
      {
        stack,
        name: 'replay_gone',
        settings: { ...settings, LIMITS_MAX_DEAD_LETTERS_PER_SECOND: '0' },
      },
      async (rig) => {
        await rig.publish([{ value: event(soon()) }, { value: event(soon()) }]);
        await ingest(rig, 2);
        expect(await replay(rig)).toEqual({
          ...{ replayed: 0, by_reason: {}, ...none, without_letter: 2 },
        });
      },
    ));

  it('says what is gone, and what is of a topic that was recreated', () =>
    withRig({ stack, name: 'replay_lost', settings }, async (rig) => {
      await rig.publish([0, 1, 2].map(() => ({ value: event(soon()) })));
      await ingest(rig, 3);
      const admin = createKafkaClient(rig.config.kafka).admin();
      await admin.connect();
      rig.atEnd(() => admin.disconnect());
      const { topic } = rig;
      await admin.fetchTopicOffsets(topic); // Loads the metadata that kafkajs needs below.
      await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '2' }] });
      const one = { replayed: 1, by_reason: { future: 1 } };
      expect(await replay(rig, '--dry-run')).toEqual({ ...one, ...none, gone: 2 });

      await admin.deleteTopics({ topics: [topic] });
      await untilGone(rig.config.kafka, topic);
      await ensureTopics(rig.config.kafka, [{ topic }]);
      await rig.publish([0, 1, 2].map(() => ({ value: event(Date.now()) })));
      expect(await replay(rig)).toEqual({ replayed: 0, by_reason: {}, ...none, other_log: 3 });
    }));
});
