import { expect, it } from 'vitest';
import { kafkaTarget } from '../../src/alert/kafka-target.ts';
import type { OutgoingMessage } from '../../src/kafka/client/publisher.ts';
import { anomalyFixture } from '../detect/anomaly-fixture.ts';

it('kafkaTarget publishes one binary-mode CloudEvent under the dedup key', async () => {
  const published: { topic: string; messages: readonly OutgoingMessage[] }[] = [];
  const target = kafkaTarget(
    {
      publish: async (topic, messages) => void published.push({ topic, messages }),
      close: async () => undefined,
    },
    'anomalies.v1',
  );
  const event = anomalyFixture();
  await target.deliver(event);
  expect(target.name).toBe('kafka anomalies.v1');
  expect(published).toEqual([
    {
      topic: 'anomalies.v1',
      messages: [
        {
          key: event.dedup_key,
          value: JSON.stringify(event),
          headers: {
            'content-type': 'application/json',
            ce_specversion: '1.0',
            ce_id: `${event.id}-1`,
            ce_source: 'tailmark',
            ce_type: 'io.tailmark.anomaly.opened.v1',
            ce_time: event.emitted_at,
            ce_subject: event.dedup_key,
          },
        },
      ],
    },
  ]);
});
