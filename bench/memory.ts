import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createClient } from '@clickhouse/client';
import { configSchema } from '../src/config/schema.ts';
import { openKafkaPublisher } from '../src/kafka/client/kafka-publisher.ts';
import { ensureTopics } from '../src/kafka/client/kafka-topics.ts';
import { startLocalStack } from '../src/local/stack/local-stack.ts';
import { migrate } from '../src/sink/migrate/migrate.ts';
import { cpuSecondsOf, peakBytesOf } from './peers/process-usage.ts';
import { benchEvents } from './traffic/bench-events.ts';

/**
 * Peak memory of `tailmark run --roles ingest` by how many series are live at once, each with eight
 * stages and the total; and whether every event is in a series of its own. A series has few events in
 * each window where there are many of them.
 *
 *     npm run bench -- memory [--events N] [--live 20,11112] [--profile FILE]
 */
const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '1000000' },
    live: { type: 'string', default: '20,11112' },
    profile: { type: 'string' },
  },
});
const events = Number(values.events);
const PARTITIONS = 4;
const STAGES = 9;
const say = (text: string) => process.stdout.write(`${text}\n`);
const script = fileURLToPath(new URL('../bin/tailmark.js', import.meta.url));

const dir = mkdtempSync(join(tmpdir(), 'tailmark-bench-'));
const stack = await startLocalStack({ dir, fresh: true });
try {
  for (const live of values.live.split(',').map(Number)) await measure(live);
} finally {
  await stack.stop();
  rmSync(dir, { recursive: true, force: true });
}

async function measure(seriesCount: number): Promise<void> {
  const topic = `live-${seriesCount}`;
  const clickhouse = { url: stack.clickhouse.url, database: `live_${seriesCount}` };
  const setup = createClient({ url: clickhouse.url });
  await setup.command({ query: `CREATE DATABASE ${clickhouse.database}` });
  await setup.close();
  await migrate(configSchema.parse({ clickhouse }).clickhouse);
  await fill(topic, seriesCount);
  const profile = values.profile === undefined ? [] : ['--profile', values.profile];
  const child = spawn(process.execPath, [script, 'run', '--roles', 'ingest', ...profile], {
    env: {
      ...process.env,
      TAILMARK_KAFKA_BROKERS: stack.kafka.brokers.join(','),
      TAILMARK_KAFKA_TOPICS: topic,
      TAILMARK_KAFKA_GROUP_ID: topic,
      TAILMARK_CLICKHOUSE_URL: clickhouse.url,
      TAILMARK_CLICKHOUSE_DATABASE: clickhouse.database,
      TAILMARK_HTTP_LISTEN: '127.0.0.1:0',
      TAILMARK_LOG_LEVEL: 'warn',
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const client = createClient(clickhouse);
  const one = async (query: string) => {
    const answer = await client.query({ query, format: 'JSONEachRow' });
    const [row] = await answer.json<{ n: string; series: string }>();
    return { n: Number(row?.n), series: Number(row?.series) };
  };
  while ((await one('SELECT sum(consumed) AS n FROM flushes')).n < events) await sleep(200);
  const peakMib = Math.round(peakBytesOf(child.pid as number) / 2 ** 20);
  const cpuSeconds = cpuSecondsOf(child.pid as number);
  const { n, series } = await one(
    `SELECT sum(requests) AS n, uniqExact(model, version) AS series FROM latency_1d WHERE stage = 'total'`,
  );
  child.kill('SIGTERM');
  await exited;
  await client.close();
  if (n !== events || series !== seriesCount) throw new Error(`${n} requests of ${series} series`);
  say(
    `${seriesCount.toLocaleString('en')} series × ${STAGES}, all live: ` +
      `peak ${peakMib} MiB; ${Math.round(events / cpuSeconds / 1000)} k events per CPU second`,
  );
}

/** Events of twenty seconds, in two or three windows. */
async function fill(topic: string, seriesCount: number): Promise<void> {
  const kafka = configSchema.parse({ kafka: { brokers: stack.kafka.brokers } }).kafka;
  await ensureTopics(kafka, [{ topic, partitions: PARTITIONS }]);
  const publisher = await openKafkaPublisher(kafka);
  const startMs = Date.now() - 60_000;
  const options = { seed: 1, count: events, startMs, eventsPerSecond: events / 20, seriesCount };
  let batch: { value: Buffer; partition: number }[] = [];
  let sent = 0;
  for (const value of benchEvents({ ...options, eventsPerMessage: 100 })) {
    batch.push({ value, partition: sent++ % PARTITIONS });
    if (batch.length < 32) continue;
    await publisher.publish(topic, batch);
    batch = [];
  }
  await publisher.publish(topic, batch);
  await publisher.close();
}
