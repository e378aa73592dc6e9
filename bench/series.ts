import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createClient } from '@clickhouse/client';
import { type Config, configSchema } from '../src/config/schema.ts';
import { openKafkaPublisher } from '../src/kafka/client/kafka-publisher.ts';
import { ensureTopics } from '../src/kafka/client/kafka-topics.ts';
import type { OutgoingMessage } from '../src/kafka/client/publisher.ts';
import { type LocalStack, startLocalStack } from '../src/local/stack/local-stack.ts';
import { migrate } from '../src/sink/migrate/migrate.ts';
import { cpuSecondsOf, peakBytesOf } from './peers/process-usage.ts';
import { benchEvents } from './traffic/bench-events.ts';

/**
 * What series cost: the ingest role as it ships, with the default configuration, on a backlog of eight
 * partitions, one event a message. *keyed*: producers send a series to one partition; *any*: to all of them
 * in turn. CPU seconds are those of the process and of ClickHouse, from the first assignment until all is in
 * the ledger. Bytes are those of the tables afterwards, when their parts are merged.
 *
 *     npm run bench -- series [--series 20,1000,20000] [--by keyed,any] [--events N]
 */
const { values } = parseArgs({
  options: {
    series: { type: 'string', default: '20,1000,20000' },
    by: { type: 'string', default: 'keyed,any' },
    events: { type: 'string', default: '400000' },
  },
});
const PARTITIONS = 8;
const events = Number(values.events);
const sizedTables = [
  'chunk_landings',
  'latency_10s',
  'latency_1m',
  'latency_1h',
  'latency_1d',
  'drivers_1m',
  'exemplars',
];
const bin = fileURLToPath(new URL('../../bin/tailmark.js', import.meta.url));
const startMs = Math.floor(Date.now() / 60_000 - 10) * 60_000;
const say = (text: string) => process.stdout.write(`${text}\n`);

const dir = mkdtempSync(join(tmpdir(), 'tailmark-bench-'));
const stack: LocalStack = await startLocalStack({ dir, fresh: true });
try {
  say(`${events} events, ${PARTITIONS} partitions, one event a message`);
  for (const seriesCount of values.series.split(',').map(Number)) {
    for (const by of values.by.split(',')) await measure(seriesCount, by === 'keyed');
  }
} finally {
  await stack.stop();
  rmSync(dir, { recursive: true, force: true });
}

async function measure(seriesCount: number, isKeyed: boolean): Promise<void> {
  const name = `series_${seriesCount}_${isKeyed ? 'keyed' : 'any'}`;
  const config = configSchema.parse({
    kafka: { brokers: stack.kafka.brokers, topics: [name], group_id: name },
    clickhouse: { url: stack.clickhouse.url, database: name },
  });
  await migrate(config.clickhouse);
  await fill(config.kafka, seriesCount, isKeyed);
  const client = createClient({ url: stack.clickhouse.url, database: name });
  const ask = async <T>(query: string) =>
    (await client.query({ query, format: 'JSONEachRow' })).json<T>();
  const child = startIngest(name);
  try {
    await child.assigned;
    const pid = child.process.pid as number;
    const cpu = () => [cpuSecondsOf(pid), cpuSecondsOf(stack.clickhouse.pid)] as const;
    const [ownBefore, serverBefore] = cpu();
    for (;;) {
      const [row] = await ask<{ n: string }>('SELECT sum(consumed) AS n FROM flushes');
      if (Number(row?.n) >= events) break;
      await sleep(200);
    }
    const [ownAfter, serverAfter] = cpu();
    const [own, server] = [ownAfter - ownBefore, serverAfter - serverBefore];
    const peakMiB = Math.round(peakBytesOf(pid) / 2 ** 20);
    const [stored] = await ask<{ requests: string; rows: string; chunks: string }>(
      `SELECT (SELECT sum(requests) FROM latency_1d WHERE stage = 'total') AS requests,
         sum(row_count) AS rows, count() AS chunks FROM flushes`,
    );
    if (Number(stored?.requests) !== events) throw new Error(`${name} stored ${stored?.requests}`);
    const rows = Number(stored?.rows);
    say(
      `  ${seriesCount} series, ${isKeyed ? 'keyed' : 'any'}: ${k(events / (own + server))} events per CPU second ` +
        `(${own.toFixed(1)} s own, ${server.toFixed(1)} s ClickHouse), peak ${peakMiB} MiB; ` +
        `${(rows / events).toFixed(2)} rows an event, ${stored?.chunks} chunks`,
    );
    for (const table of sizedTables) {
      await client.command({ query: `OPTIMIZE TABLE ${table} FINAL` });
    }
    const sizes = await ask<{ table: string; rows: string; bytes: string }>(
      `SELECT table, sum(rows) AS rows, sum(bytes_on_disk) AS bytes FROM system.parts
       WHERE active AND database = '${name}' AND table IN ('${sizedTables.join("', '")}')
       GROUP BY table ORDER BY table`,
    );
    for (const size of sizes) {
      const perRow = (Number(size.bytes) / Number(size.rows)).toFixed(0);
      say(`    ${size.table}: ${size.rows} rows of ${perRow} bytes`);
    }
  } finally {
    await child.stop();
    await client.command({ query: `DROP DATABASE ${name} SYNC` });
    await client.close();
  }
}

function startIngest(name: string) {
  const env = {
    ...process.env,
    TAILMARK_KAFKA_BROKERS: stack.kafka.brokers.join(','),
    TAILMARK_KAFKA_TOPICS: name,
    TAILMARK_KAFKA_GROUP_ID: name,
    TAILMARK_KAFKA_START_FROM: 'earliest',
    TAILMARK_CLICKHOUSE_URL: stack.clickhouse.url,
    TAILMARK_CLICKHOUSE_DATABASE: name,
  };
  const started: ChildProcess = spawn(process.execPath, [bin, 'run', '--roles', 'ingest'], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => started.once('close', () => resolve()));
  let log = '';
  const assigned = new Promise<void>((resolve, reject) => {
    started.stderr?.on('data', (bytes: Buffer) => {
      log += bytes;
      if (log.includes('partition assigned')) resolve();
    });
    void ended.then(() => reject(new Error(`ingest has ended: ${log}`)));
  });
  return {
    process: started,
    assigned,
    stop: async () => {
      started.kill('SIGTERM');
      await ended;
    },
  };
}

async function fill(kafka: Config['kafka'], seriesCount: number, isKeyed: boolean): Promise<void> {
  const [topic = ''] = kafka.topics;
  await ensureTopics(kafka, [{ topic, partitions: PARTITIONS }]);
  const publisher = await openKafkaPublisher(kafka);
  let batch: OutgoingMessage[] = [];
  let n = 0;
  const options = { seed: 1, count: events, eventsPerMessage: 1, startMs, seriesCount };
  for (const value of benchEvents(options)) {
    batch.push({ value, partition: isKeyed ? partitionOf(value) : n++ % PARTITIONS });
    if (batch.length < 4_000) continue;
    await publisher.publish(topic, batch);
    batch = [];
  }
  await publisher.publish(topic, batch);
  await publisher.close();
}

/** The series of an event is what stands between its time and its status. */
function partitionOf(value: Buffer): number {
  let hash = 0;
  const end = value.indexOf('"status"');
  for (let at = value.indexOf('"model"'); at < end; at++) {
    hash = (Math.imul(hash, 31) + (value[at] as number)) | 0;
  }
  return (hash >>> 8) % PARTITIONS;
}

function k(perSecond: number): string {
  return `${(perSecond / 1000).toFixed(1)} k`;
}
