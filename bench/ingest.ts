import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLog } from '../src/base/log.ts';
import { createMetrics } from '../src/base/metrics.ts';
import { configSchema } from '../src/config/schema.ts';
import { benchEvents } from '../src/generate/bench-events.ts';
import { Ingester } from '../src/ingest/ingester.ts';
import { startLocalStack } from '../src/local/local-stack.ts';
import { ClickHouseChunkStore } from '../src/sink/chunk-store.ts';
import { openClickHouse } from '../src/sink/clickhouse.ts';
import { migrate } from '../src/sink/migrate.ts';
import { verify } from '../src/sink/verify.ts';
import { openKafkaPublisher } from '../src/source/kafka-publisher.ts';
import { KafkaSource } from '../src/source/kafka-source.ts';
import { ensureTopics } from '../src/source/kafka-topics.ts';

/**
 * How many events a second one ingest worker takes, from a topic on the local Kafka to the
 * acknowledged insert in the local ClickHouse and its ledger row. Events of 276 bytes, 8 stages and
 * the total, 20 series; one event a message, and 100. Counts and sums are held against the input
 * before any number is printed.
 *
 *     npm run bench -- ingest [--events N] [--rounds N]
 */
const argument = (name: string, fallback: number) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? fallback : Number(process.argv[at + 1]);
};
const eventCount = argument('events', 1_500_000);
const rounds = argument('rounds', 3);
/** The events lie in the recent past, as live ones do. */
const startMs = Math.floor(Date.now() / 60_000 - 10) * 60_000;
const say = (text: string) => process.stdout.write(`${text}\n`);

interface Measured {
  readonly perSecond: number;
  readonly perCpuSecond: number;
  readonly rssBytes: number;
}

const dir = mkdtempSync(join(tmpdir(), 'tailmark-bench-'));
const stack = await startLocalStack({ dir, fresh: true });
try {
  say(`${eventCount} events of 276 bytes, ${rounds} rounds, median (least to most)`);
  for (const eventsPerMessage of [1, 100]) {
    const results: Measured[] = [];
    const topic = `bench-${eventsPerMessage}`;
    await fill(topic, eventsPerMessage);
    for (let round = 1; round <= rounds; round++) {
      results.push(await measure(topic, `${topic}-${round}`, eventsPerMessage));
    }
    const rates = results.map(({ perSecond }) => perSecond).sort((a, b) => a - b);
    const cpuRates = results.map(({ perCpuSecond }) => perCpuSecond).sort((a, b) => a - b);
    const rss = Math.max(...results.map(({ rssBytes }) => rssBytes));
    say(
      `${eventsPerMessage} a message: ${k(median(rates))} events/s wall (${k(rates[0])}–${k(rates.at(-1))}), ` +
        `${k(median(cpuRates))} per CPU second of the worker, peak ${Math.round(rss / 1e6)} MB`,
    );
  }
} finally {
  await stack.stop();
  rmSync(dir, { recursive: true, force: true });
}

async function fill(topic: string, eventsPerMessage: number): Promise<void> {
  const kafka = configSchema.parse({ kafka: { brokers: stack.kafka.brokers } }).kafka;
  await ensureTopics(kafka, [{ topic }]);
  const publisher = await openKafkaPublisher(kafka);
  let batch: { value: Buffer }[] = [];
  let bytes = 0;
  for (const value of benchEvents({ seed: 1, count: eventCount, eventsPerMessage, startMs })) {
    batch.push({ value });
    bytes += value.length;
    if (bytes < 900_000) continue;
    await publisher.publish(topic, batch);
    batch = [];
    bytes = 0;
  }
  await publisher.publish(topic, batch);
  await publisher.close();
}

async function measure(topic: string, group: string, eventsPerMessage: number): Promise<Measured> {
  const config = configSchema.parse({
    kafka: { brokers: stack.kafka.brokers, topics: [topic], group_id: group },
    clickhouse: { url: stack.clickhouse.url, database: group.replaceAll('-', '_') },
    ingest: { flush_interval: '1s' },
  });
  await migrate(config.clickhouse);
  const client = openClickHouse(config.clickhouse);
  const metrics = createMetrics();
  const ingester = new Ingester({
    config,
    source: new KafkaSource(config.kafka),
    store: new ClickHouseChunkStore(client, 'bench'),
    publisher: undefined,
    log: createLog({ level: 'warn' }),
    metrics,
  });
  const startedMs = performance.now();
  const cpu = process.cpuUsage();
  let rssBytes = 0;
  await ingester.start();
  for (;;) {
    const consumed = (await metrics.eventsConsumed.get()).values[0]?.value ?? 0;
    rssBytes = Math.max(rssBytes, process.memoryUsage.rss());
    if (consumed >= eventCount) break;
    await sleep(20);
  }
  const seconds = (performance.now() - startedMs) / 1000;
  const used = process.cpuUsage(cpu);
  await ingester.drain();
  const verification = await verify(client, {
    retention: config.clickhouse.retention,
    nowMs: Date.now,
    sleep: (ms) => sleep(ms),
  });
  await client.close();
  const { aggregated, samples } = verification.totals;
  if (!verification.ok || aggregated !== eventCount || samples !== eventCount * 9) {
    throw new Error(
      `counts differ (${eventsPerMessage} a message): ${JSON.stringify(verification)}`,
    );
  }
  return {
    perSecond: eventCount / seconds,
    perCpuSecond: eventCount / ((used.user + used.system) / 1e6),
    rssBytes,
  };
}

function median(sorted: readonly number[]): number {
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function k(perSecond: number | undefined): string {
  return `${Math.round((perSecond ?? 0) / 1000)} k`;
}
