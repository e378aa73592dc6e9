import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type ClickHouseClient, createClient } from '@clickhouse/client';
import { configSchema } from '../src/config/schema.ts';
import { openKafkaPublisher } from '../src/kafka/client/kafka-publisher.ts';
import { ensureTopics } from '../src/kafka/client/kafka-topics.ts';
import type { Publisher } from '../src/kafka/client/publisher.ts';
import { startLocalStack } from '../src/local/stack/local-stack.ts';
import { migrate } from '../src/sink/migrate/migrate.ts';
import { cpuSecondsOf } from './peers/process-usage.ts';
import { ReplayedRequests } from './replayed-requests.ts';
import { benchEvents } from './traffic/bench-events.ts';

/**
 * How long it takes an event from the topic to the tables: `tailmark run` beside a steady load, with
 * a probe of its own model every tenth of a second. A probe's time begins when the broker has
 * acknowledged it and ends when a query shows it; queries follow one another 50 ms apart. The load is a
 * share of what the process does beside the same broker when there is always more to read, which is
 * measured first. What is stored in the end is held against what was sent.
 *
 *     npm run bench -- freshness [--load 0.8] [--rate EVENTS_A_SECOND] [--seconds N] [--flush 5s]
 */
const { values } = parseArgs({
  options: {
    load: { type: 'string', default: '0.8' },
    rate: { type: 'string' },
    seconds: { type: 'string', default: '30' },
    flush: { type: 'string', default: '5s' },
  },
});
const seconds = Number(values.seconds);
const PARTITIONS = 4;
const PER_MESSAGE = 100;
/** 16 messages a batch of a partition, some 0.4 MB before compression. */
const MESSAGES_A_REQUEST = 64;
const EVENTS_A_REQUEST = MESSAGES_A_REQUEST * PER_MESSAGE;
const REQUESTS = 31;
/** So much is there to be read while nothing waits for more, for so long. */
const BACKLOG = 4_000_000;
const SATURATED_MS = 30_000;
const PROBE_MS = 100;
const QUERY_MS = 50;
const STORED_DEADLINE_MS = 120_000;
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
const traffic = await record();
while (sent() < BACKLOG) await traffic.send();
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
  const capacity = await capacityOf(client);
  await measure(child.pid as number, capacity);
} finally {
  child.kill('SIGTERM');
  await exited;
  traffic.close();
  await publisher.close();
  await client.close();
  await stack.stop();
  rmSync(dir, { recursive: true, force: true });
}

/** The same events again and again. */
function record(): Promise<ReplayedRequests> {
  const options = {
    seed: 1,
    count: REQUESTS * EVENTS_A_REQUEST,
    eventsPerMessage: PER_MESSAGE,
    startMs: Date.now() - 10_000,
    eventsPerSecond: 20_000,
  };
  const messages = [...benchEvents(options)];
  const batches = Array.from({ length: REQUESTS }, (_, n) =>
    messages.slice(n * MESSAGES_A_REQUEST, (n + 1) * MESSAGES_A_REQUEST),
  );
  return ReplayedRequests.record(stack.kafka.brokers[0] as string, topic, PARTITIONS, batches);
}

/** Events of the load that the broker has. */
function sent(): number {
  return (REQUESTS + traffic.answered) * EVENTS_A_REQUEST;
}

async function stored(db: ClickHouseClient): Promise<number> {
  const answer = await db.query({
    query: `SELECT sum(requests) AS requests FROM latency_10s
            WHERE stage = 'total' AND NOT startsWith(model, 'probe-')`,
    format: 'JSONEachRow',
  });
  const [row] = await answer.json<{ requests: string }>();
  return Number(row?.requests);
}

/** Events a second that it stores while there is always a backlog; what is left of it is stored afterwards. */
async function capacityOf(db: ClickHouseClient): Promise<number> {
  const seen: { readonly ms: number; readonly events: number }[] = [];
  const last = () => seen.at(-1) ?? { ms: 0, events: 0 };
  const isOver = () => last().ms - (seen[0]?.ms ?? 0) >= SATURATED_MS;
  while (!isOver()) {
    await sleep(QUERY_MS);
    const events = await stored(db);
    if (events > last().events) seen.push({ ms: performance.now(), events });
    while (sent() < last().events + BACKLOG) await traffic.send();
  }
  await traffic.answers();
  await holdAgainst(db, sent());
  const first = seen[0] as (typeof seen)[number];
  return ((last().events - first.events) * 1000) / (last().ms - first.ms);
}

async function measure(pid: number, capacity: number): Promise<void> {
  const probes = new Probes(publisher);
  await probes.send();
  while (!(await visible(client)).has('probe-0')) await sleep(20);
  const rate = values.rate === undefined ? Number(values.load) * capacity : Number(values.rate);
  let isOver = false;
  const load = offer(rate, () => isOver);
  // The first chunks have other lengths than those of a steady load.
  await sleep(10_000);
  const pids = {
    process: pid,
    ClickHouse: stack.clickhouse.pid,
    broker: stack.kafka.pid,
    bench: process.pid,
  };
  const cpu = () => Object.values(pids).map(cpuSecondsOf);
  const [cpuBefore, beganMs, sentBefore] = [cpu(), performance.now(), sent()];
  const waitsMs: number[] = [];
  const first = probes.sent.length;
  const watching = watch(probes, first, Math.floor((seconds * 1000) / PROBE_MS), waitsMs);
  const endMs = beganMs + seconds * 1000;
  for (let n = 0; performance.now() < endMs; n++) {
    await probes.send();
    await sleep(Math.max(0, beganMs + (n + 1) * PROBE_MS - performance.now()));
  }
  const took = (performance.now() - beganMs) / 1000;
  const used = cpu().map((seconds, i) => (seconds - (cpuBefore[i] as number)) / took);
  const offered = (sent() - sentBefore) / took;
  await watching;
  isOver = true;
  await load;
  await holdAgainst(client, sent());
  waitsMs.sort((a, b) => a - b);
  const at = (q: number) => (waitsMs[Math.ceil(q * waitsMs.length) - 1] as number) / 1000;
  const [p50, p90, p99, most] = [0.5, 0.9, 0.99, 1].map((q) => at(q).toFixed(2));
  const k = (perSecond: number) => `${Math.round(perSecond / 1000)} k events/s`;
  say(
    [
      `with ever more to read: ${k(capacity)}`,
      `${k(offered)} for ${seconds} s, ${Math.round((100 * offered) / capacity)} % of that, a flush each ` +
        `${values.flush}`,
      `  of a core: ${Object.keys(pids)
        .map((name, i) => `${name} ${Math.round(100 * (used[i] as number))} %`)
        .join(', ')}`,
      `  ${waitsMs.length} probes: queryable after ${p50} s (p50), ${p90} s (p90), ${p99} s (p99), ${most} s at most`,
    ].join('\n'),
  );
}

async function holdAgainst(db: ClickHouseClient, events: number): Promise<void> {
  const deadline = performance.now() + STORED_DEADLINE_MS;
  let found = await stored(db);
  while (found < events && performance.now() < deadline) {
    await sleep(100);
    found = await stored(db);
  }
  if (found !== events) throw new Error(`${events} events were sent, ${found} are stored`);
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
    await sleep(QUERY_MS);
  }
}

async function visible(db: ClickHouseClient): Promise<Set<string>> {
  const answer = await db.query({
    query: `SELECT DISTINCT model FROM latency_10s
            WHERE window_start >= now() - 60 AND model > 'probe-' AND model < 'probe.'`,
    format: 'JSONEachRow',
  });
  return new Set((await answer.json<{ model: string }>()).map(({ model }) => model));
}

/** Sends at a rate until it is over. */
async function offer(rate: number, isOver: () => boolean): Promise<void> {
  const beganMs = performance.now();
  for (let n = 1; !isOver(); n++) {
    await traffic.send();
    const dueMs = beganMs + (n * EVENTS_A_REQUEST * 1000) / rate;
    await sleep(Math.max(0, dueMs - performance.now()));
  }
  await traffic.answers();
}
