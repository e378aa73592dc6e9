import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type ClickHouseClient, createClient } from '@clickhouse/client';
import kafkajs from 'kafkajs';
import { configSchema } from '../src/config/schema.ts';
import { benchEvents } from '../src/generate/bench-events.ts';
import { startLocalStack } from '../src/local/local-stack.ts';
import { migrate } from '../src/sink/migrate.ts';
import { createKafkaClient } from '../src/source/kafka-client.ts';
import { openKafkaPublisher } from '../src/source/kafka-publisher.ts';
import { ensureTopics } from '../src/source/kafka-topics.ts';
import type { Publisher } from '../src/source/publisher.ts';
import { cpuSecondsOf } from './peers/process-usage.ts';

/**
 * How long it takes an event from the topic to the tables: `tailmark run` beside a steady load, with
 * a probe of its own model every tenth of a second. A probe's time begins when the broker has
 * acknowledged it and ends when a query shows it; queries follow one another 20 ms apart.
 *
 *     npm run bench -- freshness [--rate EVENTS_A_SECOND] [--seconds N] [--flush 5s]
 */
const { values } = parseArgs({
  options: {
    rate: { type: 'string', default: '150000' },
    seconds: { type: 'string', default: '30' },
    flush: { type: 'string', default: '5s' },
  },
});
const rate = Number(values.rate);
const seconds = Number(values.seconds);
const PARTITIONS = 4;
const PER_MESSAGE = 100;
const SLICE_MS = 20;
/** Messages of one request: a broker hangs up on one that is too large. */
const MOST_AT_ONCE = 256;
const PROBE_MS = 100;
const topic = 'inference.timings.v1';
const say = (text: string) => process.stdout.write(`${text}\n`);

class Probes {
  readonly #publisher: Publisher;
  /** When each was acknowledged. */
  readonly sent: number[] = [];

  constructor(given: Publisher) {
    this.#publisher = given;
  }

  async send(): Promise<void> {
    const n = this.sent.length;
    const event = { ts: Date.now(), model: `probe-${n}`, total_ms: 1 };
    const value = Buffer.from(JSON.stringify(event));
    await this.#publisher.publish(topic, [{ value, partition: n % PARTITIONS }]);
    this.sent.push(performance.now());
  }
}

const dir = mkdtempSync(join(tmpdir(), 'tailmark-bench-'));
const stack = await startLocalStack({ dir, fresh: true });
const kafka = configSchema.parse({ kafka: { brokers: stack.kafka.brokers } }).kafka;
const { url } = stack.clickhouse;
const client = createClient({ url, database: 'tailmark' });
await migrate(configSchema.parse({ clickhouse: { url } }).clickhouse);
await ensureTopics(kafka, [{ topic, partitions: PARTITIONS }]);
const publisher = await openKafkaPublisher(kafka);
const child = spawn(
  process.execPath,
  [fileURLToPath(new URL('../bin/tailmark.js', import.meta.url)), 'run', '--roles', 'ingest'],
  {
    env: {
      ...process.env,
      TAILMARK_KAFKA_BROKERS: stack.kafka.brokers.join(','),
      TAILMARK_CLICKHOUSE_URL: url,
      TAILMARK_INGEST_FLUSH_INTERVAL: values.flush,
      TAILMARK_HTTP_LISTEN: '127.0.0.1:0',
      TAILMARK_LOG_LEVEL: 'warn',
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  },
);
const exited = new Promise((resolve) => child.once('exit', resolve));
try {
  await measure(child.pid as number);
} finally {
  child.kill('SIGTERM');
  await exited;
  await publisher.close();
  await client.close();
  await stack.stop();
  rmSync(dir, { recursive: true, force: true });
}

async function measure(pid: number): Promise<void> {
  const probes = new Probes(publisher);
  await probes.send();
  while (!(await visible(client)).has('probe-0')) await sleep(20);
  let isOver = false;
  const load = offer(() => isOver);
  // The first chunks have other lengths than those of a steady load.
  await sleep(10_000);
  const [cpuBefore, beganMs] = [cpuSecondsOf(pid), performance.now()];
  const waitsMs: number[] = [];
  const first = probes.sent.length;
  const watching = watch(probes, first, Math.floor((seconds * 1000) / PROBE_MS), waitsMs);
  const endMs = beganMs + seconds * 1000;
  for (let n = 0; performance.now() < endMs; n++) {
    await probes.send();
    await sleep(Math.max(0, beganMs + (n + 1) * PROBE_MS - performance.now()));
  }
  const busy = (cpuSecondsOf(pid) - cpuBefore) / ((performance.now() - beganMs) / 1000);
  await watching;
  isOver = true;
  const offered = await load;
  waitsMs.sort((a, b) => a - b);
  const at = (q: number) => (waitsMs[Math.ceil(q * waitsMs.length) - 1] as number) / 1000;
  const [p50, p90, p99, most] = [0.5, 0.9, 0.99, 1].map((q) => at(q).toFixed(2));
  say(
    `${Math.round(offered / 1000)} k events/s for ${seconds} s, a flush each ${values.flush}; ` +
      `the process uses ${Math.round(100 * busy)} % of a core`,
  );
  say(
    `  ${waitsMs.length} probes: queryable after ${p50} s (p50), ${p90} s (p90), ${p99} s (p99), ${most} s at most`,
  );
}

/** Waits until so many probes have come, and notes how long each took. */
async function watch(
  { sent }: Probes,
  first: number,
  count: number,
  waitsMs: number[],
): Promise<void> {
  const seen = new Set<string>();
  while (waitsMs.length < count) {
    const found = await visible(client);
    const nowMs = performance.now();
    for (let n = first; n < Math.min(sent.length, first + count); n++) {
      const name = `probe-${n}`;
      if (seen.has(name) || !found.has(name)) continue;
      seen.add(name);
      waitsMs.push(nowMs - (sent[n] as number));
    }
    await sleep(20);
  }
}

async function visible(db: ClickHouseClient): Promise<Set<string>> {
  const answer = await db.query({
    query: `SELECT DISTINCT model FROM latency_10s
            WHERE window_start >= now() - 600 AND startsWith(model, 'probe-')`,
    format: 'JSONEachRow',
  });
  return new Set((await answer.json<{ model: string }>()).map(({ model }) => model));
}

/**
 * The same messages again and again, at the rate, until it is over; events a second. They are sent as LZ4, as
 * producers do: the check sum of batches that are not packed takes kafkajs half of a core.
 */
async function offer(isOver: () => boolean): Promise<number> {
  const count = 200_000;
  const startMs = Date.now() - 10_000;
  const options = {
    seed: 1,
    count,
    eventsPerMessage: PER_MESSAGE,
    startMs,
    eventsPerSecond: 20_000,
  };
  const messages = [...benchEvents(options)];
  const producer = createKafkaClient(kafka, { retries: 3 }).producer();
  await producer.connect();
  const compression = kafkajs.CompressionTypes.LZ4;
  const beganMs = performance.now();
  let sent = 0;
  while (!isOver()) {
    const due = ((performance.now() - beganMs) * rate) / 1000 / PER_MESSAGE;
    const batch = [];
    while (sent < due && batch.length < MOST_AT_ONCE) {
      const value = messages[sent % messages.length] as Buffer;
      batch.push({ value, partition: sent % PARTITIONS });
      sent++;
    }
    if (batch.length > 0) await producer.send({ topic, acks: -1, compression, messages: batch });
    if (sent >= due) await sleep(SLICE_MS);
  }
  await producer.disconnect();
  return (sent * PER_MESSAGE) / ((performance.now() - beganMs) / 1000);
}
