import { afterAll, beforeAll, expect, it } from 'vitest';
import { useStack } from '../containers/stack.ts';
import { benchMessages } from './kit/bench-messages.ts';
import { KafkaCluster } from './kit/kafka-cluster.ts';
import { poll } from './kit/poll.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
const PARTITIONS = 8;
/** A partition waits for its turn for longer than a stuck consumer has. */
const QUOTA_BYTES = 50_000;
const WATCHED_MS = 75_000;

let cluster: KafkaCluster;
beforeAll(async () => {
  cluster = await KafkaCluster.start({ brokers: 1 });
});
afterAll(() => cluster.stop());

it('goes on reading at the pace of a quota, and says so', async () => {
  const options = { name: 'quota', partitions: PARTITIONS };
  await withRig({ stack: { ...stack, brokers: cluster.brokers }, ...options }, async (rig) => {
    const { messages, events } = benchMessages('quota', 24_000, 60);
    const clientId = `${rig.topic}_client`;
    await cluster.limitFetches(clientId, QUOTA_BYTES);
    await rig.publish(messages.map((value, n) => ({ value, partition: n % PARTITIONS })));
    const kafka = { ...rig.config.kafka, client_id: clientId };
    const running = await rig.start(['ingest'], { ...rig.config, kafka });
    let ended: unknown;
    running.done.catch((error: unknown) => {
      ended = error;
    });
    const startedMs = performance.now();
    let said = '';
    await poll(
      'the quota has held it back for longer than a stuck consumer has',
      async () => {
        expect(ended).toBeUndefined();
        const response = await fetch(`${running.url}/readyz`);
        const text = await response.text();
        if (text.includes('a quota of the brokers')) said = `${response.status} ${text}`;
        return performance.now() - startedMs > WATCHED_MS ? true : undefined;
      },
      { deadlineMs: 2 * WATCHED_MS },
    );
    expect(said).toMatch(
      /^200 ready\nkafka: a quota of the brokers holds reading back for \d+ % of the time/,
    );
    const metrics = await (await fetch(`${running.url}/metrics`)).text();
    const counted = /^tailmark_kafka_throttled_seconds_total\{.*role="ingest".*\} ([\d.]+)$/m;
    expect(Number(counted.exec(metrics)?.[1])).toBeGreaterThan(20);
    expect(await rig.consumed()).toBeLessThan(events);
    await cluster.limitFetches(clientId, undefined);
    await rig.untilConsumed(events);
  });
});
