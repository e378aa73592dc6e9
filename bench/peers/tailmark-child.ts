import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { startCpuProfile } from '../../src/base/telemetry/cpu-profile.ts';
import { createLog } from '../../src/base/telemetry/log.ts';
import { createMetrics } from '../../src/base/telemetry/metrics.ts';
import { configSchema } from '../../src/config/schema.ts';
import { Ingester } from '../../src/ingest/ingester.ts';
import { ingestClient } from '../../src/ingest/open-source.ts';
import { KafkaSource } from '../../src/kafka/kafka-source.ts';
import { ClickHouseChunkStore } from '../../src/sink/chunks/chunk-store.ts';
import { openClickHouse } from '../../src/sink/client/clickhouse.ts';
import { serveTasks } from './child-tasks.ts';

// tailmark as it ships, but for an insert a second as the others do; all of its tables are filled,
// with drivers, bands and exemplars too.
await serveTasks(async ({ broker, url, topic, group, database, events }) => {
  const format = process.env.TAILMARK_BENCH_FORMAT ?? 'timing';
  const config = configSchema.parse({
    kafka: { brokers: [broker], topics: [{ topic, format }], group_id: group },
    clickhouse: { url, database },
    ingest: { flush_interval: '1s' },
  });
  const client = openClickHouse(config.clickhouse);
  const metrics = createMetrics();
  const log = createLog({ level: 'warn' });
  const ingester = new Ingester({
    config,
    source: new KafkaSource(config.kafka, { log, kafka: ingestClient(config, log) }),
    store: new ClickHouseChunkStore(client, 'bench'),
    publisher: undefined,
    log,
    metrics,
  });
  const profile = process.env.TAILMARK_BENCH_PROFILE;
  const keepProfile = profile === undefined ? undefined : await startCpuProfile(profile);
  const loop = monitorEventLoopDelay({ resolution: 1 });
  loop.enable();
  await ingester.start();
  const stored = async () => (await metrics.eventsConsumed.get()).values[0]?.value ?? 0;
  while ((await stored()) < events) await sleep(20);
  loop.disable();
  await keepProfile?.();
  await ingester.drain();
  await client.close();
  // The histogram holds how long a timer of a millisecond took.
  const lateMs = (nanoseconds: number) => (nanoseconds / 1e6 - 1).toFixed(1);
  return `event loop late by ${lateMs(loop.percentile(99.9))} ms (p99.9), ${lateMs(loop.max)} ms at most`;
});
