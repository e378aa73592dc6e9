import { expect, it } from 'vitest';
import { createKafkaClient } from '../../src/kafka/client/kafka-client.ts';
import { ensureTopics } from '../../src/kafka/client/kafka-topics.ts';
import { recordedMessages } from '../assemble/assemble-messages.ts';
import { useStack } from '../containers/stack.ts';
import { uniqueName } from '../containers/unique-name.ts';
import { KafkaProxy, kafkaApis } from './kit/kafka-proxy.ts';
import { poll } from './kit/poll.ts';
import type { Child } from './kit/start-child.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
const topic = `${uniqueName('spans')}.zipkin`;
/** INVALID_PRODUCER_EPOCH: another process has opened the transactional id. */
const fenced = 47;

const ask = async (url: string, path: string) => {
  const response = await fetch(`${url}${path}`);
  return `${response.status} ${await response.text()}`;
};

/** Resolves with what it responds once that has the form. */
const until = (url: string, path: string, form: RegExp) =>
  poll(`${path} matches ${form}`, async () => form.exec(await ask(url, path).catch(String))?.[0]);

/** The same spans with other trace ids. */
const newTrace = (spans: Buffer | null | undefined) =>
  Buffer.from(String(spans).replaceAll(/"traceId":"..../g, '"traceId":"f00d'));

async function urlOf(child: Child): Promise<string> {
  await child.logged('health and metrics at ');
  return /metrics at (http:\S+?)"/.exec(child.err())?.[1] ?? '';
}

it('A process that only assembles serves its health and metrics, without ClickHouse and beside another', async () => {
  const proxy = await KafkaProxy.before(stack.brokers[0] ?? '');
  try {
    await withRig({ stack, name: 'assembler_alone' }, async (rig) => {
      await ensureTopics(rig.config.kafka, [{ topic }]);
      const argv = ['run', '--roles', 'assemble'];
      const env = {
        TAILMARK_CLICKHOUSE_URL: 'http://127.0.0.1:1',
        TAILMARK_KAFKA_BROKERS: proxy.address,
        TAILMARK_ASSEMBLE_TOPICS: JSON.stringify([{ topic, format: 'zipkin_json' }]),
        TAILMARK_ASSEMBLE_GROUP_ID: topic,
        TAILMARK_ASSEMBLE_WAIT: '1s',
        TAILMARK_ASSEMBLE_LATE_MEMORY: '1s',
        TAILMARK_ASSEMBLE_COMMIT_INTERVAL: '100ms',
      };
      const child = rig.spawn(argv, env);
      const url = await urlOf(child);
      await until(url, '/readyz', /^200 ready\n$/);
      expect(await ask(url, '/')).toMatch(/^404 .*see \/healthz, \/readyz and \/metrics/);

      proxy.fate = (apiKey) =>
        apiKey === kafkaApis.addOffsetsToTxn ? { errorCode: fenced } : 'pass';
      await rig.publish(
        recordedMessages('kafka/zipkin_spans_json.jsonl.gz').map(({ value }) => ({ value })),
        topic,
      );
      expect(await until(url, '/readyz', /^503 .*/s)).toBe(
        `503 assemble: a transaction for ${topic}/0 failed, so the partition is read again from its commit ` +
          '(Producer attempted an operation with an old epoch. Either there is a newer producer with the ' +
          "same transactionalId, or the producer's transaction has been expired by the broker)\n",
      );
      proxy.fate = () => 'pass';

      // Another process at the same address: it assembles, and is not seen.
      const other = `${topic}.other`;
      await ensureTopics(rig.config.kafka, [{ topic: other }]);
      const beside = rig.spawn(argv, {
        ...env,
        TAILMARK_ASSEMBLE_TOPICS: JSON.stringify([{ topic: other, format: 'zipkin_json' }]),
        TAILMARK_ASSEMBLE_GROUP_ID: other,
        TAILMARK_HTTP_LISTEN: new URL(url).host,
      });
      await beside.logged('this process has no /healthz, /readyz and /metrics: its port is taken');
      await beside.logged('"msg":"running"');
      beside.signal('SIGTERM');
      expect(await beside.exited).toBe(0);

      const events = new RegExp(`^tailmark_assemble_events_total{topic="${topic}"} 61$`, 'm');
      await until(url, '/metrics', events);
      await until(url, '/readyz', /^200 ready\n$/);
      expect(await ask(url, '/metrics')).toContain(
        `tailmark_assemble_transaction_failures_total{topic="${topic}"} 1\n`,
      );

      // What it writes to is gone: no transaction can succeed.
      const admin = createKafkaClient(rig.config.kafka).admin();
      await admin.connect();
      await admin.deleteTopics({ topics: [rig.topic] });
      await admin.disconnect();
      await rig.publish(
        recordedMessages('kafka/zipkin_spans_json.jsonl.gz').map(({ value }) => {
          return { value: newTrace(value) };
        }),
        topic,
      );
      await child.logged(`must exist; missing: ${rig.topic}`);
      expect(await child.exited).toBe(69);
    });
  } finally {
    await proxy.close();
  }
});
