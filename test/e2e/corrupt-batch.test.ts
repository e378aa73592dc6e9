import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../src/base/telemetry/metrics.ts';
import { useStack } from '../containers/stack.ts';
import { deadLetterKey } from './kit/dead-letter-key.ts';
import { KafkaProxy, kafkaApis } from './kit/kafka-proxy.ts';
import type { Rig } from './kit/rig.ts';
import { truthOf } from './kit/truth.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
const nowMs = Date.now();
const messageOf = (totalMs: string) => ({
  value: `{"ts":${nowMs},"model":"m","total_ms":${totalMs}}`,
  partition: 0,
});
/** One byte of a value: it would be counted as 90.5 ms. */
const flipped = { text: '"total_ms":10.5', becomes: '"total_ms":90.5' };

/** Publishes three batches, of which the second passes the proxy with another byte, some times. */
async function withFlips(mostFlips: number, use: (rig: Rig, proxy: KafkaProxy) => Promise<void>) {
  const proxy = await KafkaProxy.before(stack.brokers[0] as string);
  proxy.fate = (apiKey) =>
    apiKey === kafkaApis.fetch && proxy.meddled < mostFlips ? flipped : 'pass';
  try {
    await withRig(
      { stack, name: 'flip', settings: { KAFKA_BROKERS: proxy.address } },
      async (rig) => {
        await rig.publish(['1', '2'].map(messageOf));
        await rig.publish(['10.5', '11.5'].map(messageOf));
        await rig.publish(['3'].map(messageOf));
        await use(rig, proxy);
      },
    );
  } finally {
    await proxy.close();
  }
}

describe('a record batch with one other byte', () => {
  it('on the way costs nothing: it is fetched again', () =>
    withFlips(1, async (rig, proxy) => {
      const metrics = createMetrics();
      await rig.start(['ingest'], rig.config, metrics);
      await rig.untilConsumed(5);
      await rig.expectStages(truthOf([1, 2, 10.5, 11.5, 3].map((ms) => ({ total_ms: ms }))));
      expect(proxy.meddled).toBe(1);
      expect((await metrics.deadLetters.get()).values[0]?.value).toBe(0);
    }));

  it('in every response is rejected, a dead letter for each record, and nothing else is', () =>
    withFlips(Number.POSITIVE_INFINITY, async (rig) => {
      await rig.start(['ingest']);
      await rig.untilConsumed(5);
      await rig.expectStages(truthOf([1, 2, 3].map((ms) => ({ total_ms: ms }))));
      const letters = await rig.read(`${rig.topic}.dlq`, 2);
      expect(letters.map(deadLetterKey)).toEqual(
        [2, 3].map((offset) => `${rig.topic}/0/${offset}/0 undecodable_batch`),
      );
      for (const { value, headers } of letters) {
        expect(value).toBeNull();
        expect(headers['tailmark-detail']).toMatch(
          /^The record batch must have the checksum that it states, [0-9a-f]{8}: the checksum of its bytes is /,
        );
      }
      const { totals } = await rig.expectVerified();
      expect(totals).toMatchObject({ consumed: 5, aggregated: 3, rejected: 2 });
    }));
});
