import { gzipSync } from 'node:zlib';
import kafkajs from 'kafkajs';
import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../src/base/telemetry/metrics.ts';
import { createKafkaClient } from '../../src/kafka/client/kafka-client.ts';
import { useStack } from '../containers/stack.ts';
import type { Rig } from './kit/rig.ts';
import { truthOf } from './kit/truth.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
const { CompressionTypes } = kafkajs;
const codecRegistry: Record<number, () => object> = kafkajs.CompressionCodecs;
const nowMs = Date.now();
const mebibyte = 1 << 20;
const event = (totalMs: number) => JSON.stringify({ ts: nowMs, model: 'm', total_ms: totalMs });

/** Sends one record batch, its records compressed by `compress`, as the broker expects it. */
async function sendBatch(
  rig: Rig,
  values: readonly (Buffer | string)[],
  compress: (records: Buffer) => Buffer = gzipSync,
): Promise<void> {
  const kafka = createKafkaClient(rig.config.kafka);
  const baseline = codecRegistry[CompressionTypes.GZIP] as () => object;
  codecRegistry[CompressionTypes.GZIP] = () => ({
    ...baseline(),
    compress: async ({ buffer }: { buffer: Buffer }) => compress(buffer),
  });
  const producer = kafka.producer();
  try {
    await producer.connect();
    await producer.send({
      topic: rig.topic,
      compression: CompressionTypes.GZIP,
      messages: values.map((value) => ({ value, partition: 0 })),
    });
  } finally {
    await producer.disconnect();
    codecRegistry[CompressionTypes.GZIP] = baseline;
  }
}

describe('a decompression bomb', () => {
  const settings = { LIMITS_MAX_BATCH_BYTES: String(4 * mebibyte) };

  it('of a thousand times its size is consumed as rejected records, and costs no other event', () =>
    withRig({ stack, name: 'bomb', settings }, async (rig) => {
      const bomb = [Buffer.alloc(10 * mebibyte), Buffer.alloc(30 * mebibyte), event(9)];
      await sendBatch(rig, [event(1), event(2)]);
      await sendBatch(rig, bomb);
      await sendBatch(rig, [event(3)]);
      await sendBatch(rig, bomb);
      const metrics = createMetrics();
      await rig.start(['ingest'], rig.config, metrics);
      await rig.untilConsumed(9);
      await rig.expectStages(truthOf([1, 2, 3].map((total_ms) => ({ total_ms }))));
      const letters = await rig.read(`${rig.topic}.dlq`, 6);
      expect(letters.map(({ key }) => key)).toEqual(
        [2, 3, 4, 6, 7, 8].map((offset) => `${rig.topic}/0/${offset}/0`),
      );
      for (const { value, headers } of letters) {
        expect(value).toBeNull();
        expect(headers['tailmark-reason']).toBe('undecodable_batch');
        expect(headers['tailmark-detail']).toContain('(limits.max_batch_bytes)');
      }
      expect(letters[0]?.headers['tailmark-detail']).toContain('offsets 2 to 4, 3 records, gzip');
      const { totals } = await rig.expectVerified();
      expect(totals).toMatchObject({ consumed: 9, aggregated: 3, rejected: 6 });
      const { values } = await metrics.eventsDropped.get();
      expect(values.filter(({ value }) => value > 0)).toMatchObject([
        { labels: { reason: 'undecodable_batch' }, value: 6 },
      ]);
    }));
});

describe('a flood of garbage', () => {
  it('is counted to the last, and writes so many dead letters and one for the others', () =>
    withRig(
      { stack, name: 'garbage', settings: { LIMITS_MAX_DEAD_LETTERS_PER_SECOND: '0' } },
      async (rig) => {
        const garbage = Array.from({ length: 3_000 }, (_, n) => ({ value: `x${n}`, partition: 0 }));
        await rig.publish([...garbage, { value: event(1), partition: 0 }]);
        const metrics = createMetrics();
        await rig.start(['ingest'], rig.config, metrics);
        await rig.untilConsumed(3_001);
        const { totals } = await rig.expectVerified();
        expect(totals).toMatchObject({ consumed: 3_001, aggregated: 1, rejected: 3_000 });
        const [suppressed] = (await metrics.deadLettersSuppressed.get()).values;
        expect(suppressed).toMatchObject({ labels: { reason: 'invalid_json' }, value: 3_000 });
        const chunks = await rig.rows<{ n: string }>(
          'SELECT count() AS n FROM flushes WHERE rejected > 0',
        );
        const letters = await rig.read(`${rig.topic}.dlq`, Number(chunks[0]?.n));
        const counted = letters.map(({ headers }) => Number(headers['tailmark-suppressed']));
        expect(counted.reduce((sum, count) => sum + count, 0)).toBe(3_000);
      },
    ));
});

describe('a record', () => {
  it.each([0, 12_345, 946_684_800_000])(
    'with the timestamp %i is stored like any other',
    (timestampMs) =>
      withRig({ stack, name: 'odd_time' }, async (rig) => {
        await rig.publish([{ value: event(1), partition: 0, timestampMs }]);
        await rig.start(['ingest']);
        await rig.untilConsumed(1);
        await rig.expectStages(truthOf([{ total_ms: 1 }]));
      }),
  );

  it('of garbage may be all that a new partition has', () =>
    withRig({ stack, name: 'only_garbage' }, async (rig) => {
      await rig.publish([{ value: 'garbage', partition: 0 }]);
      await rig.start(['ingest']);
      await rig.untilConsumed(1);
      await rig.publish([{ value: event(1), partition: 0 }]);
      await rig.untilConsumed(2);
      await rig.expectStages(truthOf([{ total_ms: 1 }]));
    }));
});
