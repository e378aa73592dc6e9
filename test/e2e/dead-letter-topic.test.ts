import kafkajs from 'kafkajs';
import { describe, expect, it } from 'vitest';
import { createKafkaClient } from '../../src/kafka/client/kafka-client.ts';
import { useStack } from '../containers/stack.ts';
import type { Rig } from './kit/rig.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();

/** Settings of a topic that are its own. */
async function settingsOf(rig: Rig, topic: string): Promise<Record<string, string>> {
  const admin = createKafkaClient(rig.config.kafka).admin();
  await admin.connect();
  try {
    const type = kafkajs.ConfigResourceTypes.TOPIC;
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type, name: topic }],
    });
    const entries = resources[0]?.configEntries ?? [];
    return Object.fromEntries(
      entries
        .filter(({ configName }) => /^(cleanup.policy|(retention|segment)[.]ms)$/.test(configName))
        .map(({ configName, configValue }) => [configName, configValue]),
    );
  } finally {
    await admin.disconnect();
  }
}

describe('the dead-letter topic', () => {
  it('is created with its retention', () =>
    withRig(
      { stack, name: 'dlq', settings: { KAFKA_DEAD_LETTER_RETENTION: '3d' } },
      async (rig) => {
        await rig.start(['ingest']);
        expect(await settingsOf(rig, `${rig.topic}.dlq`)).toEqual({
          'cleanup.policy': 'delete',
          'retention.ms': String(3 * 86_400_000),
          'segment.ms': String(86_400_000),
        });
      },
    ));

  it('has no text of an event where payloads are left out', () =>
    withRig(
      { stack, name: 'dlq', settings: { KAFKA_DEAD_LETTER_PAYLOADS: 'false' } },
      async (rig) => {
        const events = [
          '{"secret',
          '{"ts":"secret"}',
          '{"ts":1,"model":"m","secret":1}',
          '"secret"',
        ];
        await rig.start(['ingest']);
        await rig.publish(events.map((value) => ({ value, partition: 0 })));
        const letters = await rig.read(`${rig.topic}.dlq`, events.length);
        expect(letters.map(({ value, headers }) => [value, headers['tailmark-offset']])).toEqual(
          events.map((_, offset) => [null, String(offset)]),
        );
        expect(letters.map(({ headers }) => headers['tailmark-left-out-bytes'])).toEqual(
          events.map(({ length }) => String(length)),
        );
        expect(JSON.stringify(letters)).not.toContain('secret');
        await rig.untilConsumed(events.length);
      },
    ));
});
