import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createClient } from '@clickhouse/client';
import { hourMs } from '../src/base/time.ts';
import { configSchema } from '../src/config/schema.ts';
import { openKafkaPublisher } from '../src/kafka/client/kafka-publisher.ts';
import { ensureTopics } from '../src/kafka/client/kafka-topics.ts';
import type { OutgoingMessage } from '../src/kafka/client/publisher.ts';
import { startLocalStack } from '../src/local/stack/local-stack.ts';
import { AnomalyStore } from '../src/sink/anomalies/anomaly-store.ts';
import { migrate } from '../src/sink/migrate/migrate.ts';
import { anomalyFixture } from '../test/contract/anomaly-fixture.ts';
import { fillWeeks, fleet, modelName } from './dashboard/fill-weeks.ts';
import { openPage, startBrowser } from './dashboard/open-page.ts';
import { startTailmark } from './dashboard/tailmark-process.ts';
import { runViewers, startIdleServer } from './dashboard/viewers.ts';
import { cpuSecondsOf } from './peers/process-usage.ts';
import { benchEvents } from './traffic/bench-events.ts';

/**
 * The dashboard over two weeks of 1,000 series, on real servers, as processes that ship:
 *
 * - api: all questions of a view at once, as its page asks them. *Cold* of a process that has answered other
 *   questions; *again* right after.
 * - paint: the view Now in a browser without a cache, its questions cold.
 * - viewers: a backlog is ingested, and 50 open tabs of two views ask tailmark, or an idle server, in turn.
 * - heap: one tab refreshes 1,000 times while events come in.
 *
 *     npm run bench -- dashboard [--only api,paint,viewers,heap] [--rounds 9]
 */
const { values } = parseArgs({
  options: {
    only: { type: 'string', default: 'api,paint,heap,viewers' },
    rounds: { type: 'string', default: '9' },
    events: { type: 'string', default: '400000' },
    /** Keeps the data, for another run within the hour. @default a temporary directory */
    dir: { type: 'string' },
  },
});
const rounds = Number(values.rounds);
const partitions = 8;
const viewerCount = 50;
const refreshes = 1_000;
const incidentId = 'c'.repeat(32);
const views = {
  Now: '/?from=-7d',
  Model: `/models/${modelName(7)}?from=-7d`,
  Incident: `/incidents/${incidentId}`,
};
const say = (text: string) => process.stdout.write(`${text}\n`);

const dir = values.dir ?? mkdtempSync(join(tmpdir(), 'tailmark-bench-'));
const stack = await startLocalStack({ dir });
const browser = await startBrowser();
const client = createClient({
  url: stack.clickhouse.url,
  database: 'tailmark',
  // Of one piece that is filled, on a busy machine.
  request_timeout: 600_000,
  clickhouse_settings: {
    send_progress_in_http_headers: 1,
    http_headers_progress_interval_ms: '20000',
  },
});
try {
  await migrate(configSchema.parse({ clickhouse: { url: stack.clickhouse.url } }).clickhouse);
  if (await isEmpty()) {
    await fillWeeks(client, Math.floor(Date.now() / hourMs) * hourMs);
    await addIncident();
    await ingest('first', 20_000);
  }
  say(
    `${fleet.models * fleet.versions * fleet.regions} series; median of ${rounds} (least to most)`,
  );
  const phases = { api, paint, heap, viewers };
  for (const name of values.only.split(',')) await phases[name as keyof typeof phases]();
} finally {
  await client.close();
  await browser.close();
  await stack.stop();
  if (values.dir === undefined) rmSync(dir, { recursive: true, force: true });
}

async function isEmpty(): Promise<boolean> {
  const answer = await client.query({
    query: 'SELECT count() AS n FROM flushes',
    format: 'JSONEachRow',
  });
  return Number((await answer.json<{ n: string }>())[0]?.n ?? 0) === 0;
}

function envOf(topic: string): Record<string, string> {
  return {
    TAILMARK_KAFKA_BROKERS: stack.kafka.brokers.join(','),
    TAILMARK_KAFKA_TOPICS: topic,
    TAILMARK_KAFKA_GROUP_ID: topic,
    TAILMARK_KAFKA_START_FROM: 'earliest',
    TAILMARK_CLICKHOUSE_URL: stack.clickhouse.url,
    TAILMARK_CLICKHOUSE_DATABASE: 'tailmark',
  };
}

async function addIncident(): Promise<void> {
  const at = (hours: number) => new Date(Date.now() - hours * hourMs).toISOString();
  const model = { model: modelName(7), region: 'region-1', request_type: 'rank' };
  const times = { started_at: at(4), detected_at: at(4), emitted_at: at(4) };
  await new AnomalyStore(client).add(anomalyFixture({ id: incidentId, ...model, ...times }));
}

/** Events of the last minutes in a topic of their own, one a message. */
async function fill(topic: string, events: number): Promise<void> {
  const kafka = configSchema.parse({ kafka: { brokers: stack.kafka.brokers } }).kafka;
  await ensureTopics(kafka, [{ topic, partitions }]);
  const publisher = await openKafkaPublisher(kafka);
  const startMs = Date.now() - 120_000;
  const options = { seed: topic, count: events, startMs, eventsPerSecond: events / 110 };
  let batch: OutgoingMessage[] = [];
  let n = 0;
  for (const value of benchEvents({ ...options, eventsPerMessage: 1, seriesCount: 1_000 })) {
    batch.push({ value, partition: n++ % partitions });
    if (batch.length < 4_000) continue;
    await publisher.publish(topic, batch);
    batch = [];
  }
  await publisher.publish(topic, batch);
  await publisher.close();
}

/** Ingests so many events; what it took in wall seconds and CPU seconds of the process and of ClickHouse. */
async function ingest(topic: string, events: number) {
  await fill(topic, events);
  const consumed = async () => {
    const query = `SELECT sum(consumed) AS n FROM flushes WHERE topic = '${topic}'`;
    const answer = await client.query({ query, format: 'JSONEachRow' });
    return Number((await answer.json<{ n: string }>())[0]?.n ?? 0);
  };
  const running = await startTailmark('ingest,serve', envOf(topic));
  try {
    const cpu = () => [cpuSecondsOf(running.pid), cpuSecondsOf(stack.clickhouse.pid)] as const;
    // From the first chunk on, so that joining the group does not count.
    let begun = 0;
    while (begun === 0) {
      begun = await consumed();
      if (begun === 0) await sleep(20);
    }
    const startMs = performance.now();
    const [ownBefore, serverBefore] = cpu();
    while ((await consumed()) < events) await sleep(100);
    const [own, server] = cpu();
    const seconds = (performance.now() - startMs) / 1000;
    return {
      perSecond: (events - begun) / seconds,
      ...{ seconds, own: own - ownBefore, server: server - serverBefore },
    };
  } finally {
    await running.stop();
  }
}

async function questionsOf(url: string, path: string): Promise<readonly string[]> {
  const { page, questions } = await openPage(browser, url + path);
  await page.context().close();
  return questions;
}

async function askAll(url: string, questions: readonly string[]): Promise<number> {
  const beganMs = performance.now();
  const responses = await Promise.all(
    questions.map(async (question) => {
      const response = await fetch(url + question);
      await response.arrayBuffer();
      return response.status;
    }),
  );
  if (responses.some((status) => status !== 200)) throw new Error(`${responses} of ${questions}`);
  return performance.now() - beganMs;
}

async function api(): Promise<void> {
  const cold = new Map<string, number[]>();
  const again = new Map<string, number[]>();
  const cpu = new Map<string, number[]>();
  const keep = (of: Map<string, number[]>, name: string, value: number) =>
    of.set(name, [...(of.get(name) ?? []), value]);
  const first = await startTailmark('serve', envOf('first'));
  const asked = new Map<string, readonly string[]>();
  for (const [name, path] of Object.entries(views)) {
    asked.set(name, await questionsOf(first.url, path));
  }
  await first.stop();
  for (let round = 0; round < rounds; round++) {
    const running = await startTailmark('serve', envOf('first'));
    const other = (question: string) => question.replaceAll('-7d', '-5d');
    for (const questions of asked.values()) await askAll(running.url, questions.map(other));
    for (const [name, questions] of asked) {
      // The slot of the incident's own range is the same in both: it is asked of a process of its own.
      const fresh = name === 'Incident' ? await startTailmark('serve', envOf('first')) : running;
      if (fresh !== running) await askAll(fresh.url, [...(asked.get('Now') ?? [])]);
      const before = cpuSecondsOf(stack.clickhouse.pid) + cpuSecondsOf(fresh.pid);
      keep(cold, name, await askAll(fresh.url, questions));
      const used = cpuSecondsOf(stack.clickhouse.pid) + cpuSecondsOf(fresh.pid) - before;
      keep(cpu, name, used * 1000);
      keep(again, name, await askAll(fresh.url, questions));
      if (fresh !== running) await fresh.stop();
    }
    await running.stop();
  }
  for (const [name, questions] of asked) {
    say(
      `  api, ${name}, ${questions.length} questions at once: cold ${spread(cold.get(name))} ` +
        `(CPU ${spread(cpu.get(name))}); again ${spread(again.get(name))}`,
    );
  }
}

async function paint(): Promise<void> {
  const painted: number[] = [];
  const drawn: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const running = await startTailmark('serve', envOf('first'));
    await askAll(running.url, ['/v1/models?from=-5d', '/v1/anomalies?from=-5d']);
    const { page, firstPaintMs, drawnMs } = await openPage(browser, `${running.url}/`);
    painted.push(firstPaintMs);
    drawn.push(drawnMs);
    await page.context().close();
    await running.stop();
  }
  say(`  page Now, last 6 h: first paint ${spread(painted)}; data drawn ${spread(drawn)}`);
}

async function viewers(): Promise<void> {
  const rates: number[] = [];
  const used: number[] = [];
  for (let pair = 0; pair < Math.ceil(rounds / 3); pair++) {
    const measured = new Map<boolean, Awaited<ReturnType<typeof ingest>>>();
    for (const isWatched of pair % 2 === 0 ? [false, true] : [true, false]) {
      const serving = await startTailmark('serve', envOf('first'));
      const over = new AbortController();
      const paths = ['/', `/models/${modelName(7)}`];
      const questions = [];
      for (const path of paths) questions.push(...(await questionsOf(serving.url, path)));
      // Otherwise they ask a server that has nothing to do: what asking costs is no part of the difference.
      const idle = await startIdleServer();
      const url = isWatched ? serving.url : idle.url;
      const watching = runViewers({ url, questions, viewers: viewerCount }, over.signal);
      watching.catch(() => undefined);
      const before = cpuSecondsOf(serving.pid);
      const name = `pair_${Date.now()}_${isWatched ? 'watched' : 'alone'}`;
      const result = await ingest(name, Number(values.events));
      measured.set(isWatched, result);
      const serve = cpuSecondsOf(serving.pid) - before;
      over.abort();
      const answers = await watching;
      idle.close();
      await serving.stop();
      const of = [...answers].map(([status, n]) => `${n} × ${status}`).join(', ');
      say(
        `  ${isWatched ? `${viewerCount} viewers` : `${viewerCount} viewers of an idle server`}: ${Math.round(result.perSecond)} events/s ` +
          `in ${result.seconds.toFixed(1)} s; CPU ${result.own.toFixed(1)} s own, ${result.server.toFixed(1)} s ` +
          `ClickHouse, ${serve.toFixed(1)} s serve with filling${of === '' ? '' : `; ${of}`}`,
      );
    }
    const [alone, watched] = [measured.get(false), measured.get(true)];
    if (alone === undefined || watched === undefined) continue;
    rates.push((1 - watched.perSecond / alone.perSecond) * 100);
    used.push(((watched.own + watched.server) / (alone.own + alone.server) - 1) * 100);
  }
  const list = (all: readonly number[]) => all.map((one) => `${one.toFixed(1)} %`).join(', ');
  say(`  ingestion slower by ${list(rates)}; its CPU and ClickHouse's more by ${list(used)}`);
}

async function heap(): Promise<void> {
  await fill('live', 100);
  const running = await startTailmark('ingest,serve', envOf('live'));
  const kafka = configSchema.parse({ kafka: { brokers: stack.kafka.brokers } }).kafka;
  const publisher = await openKafkaPublisher(kafka);
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.clock.install();
  let pending = 0;
  let asked = 0;
  page.on('request', () => {
    pending++;
    asked++;
  });
  for (const event of ['requestfinished', 'requestfailed'] as const) {
    page.on(event as 'requestfinished', () => pending--);
  }
  const cdp = await context.newCDPSession(page);
  const usedMb = async () => {
    await cdp.send('HeapProfiler.collectGarbage');
    return (await cdp.send('Runtime.getHeapUsage')).usedSize / 2 ** 20;
  };
  let bodies = 0;
  page.on('response', (response) => {
    if (response.status() === 200) bodies++;
  });
  await page.goto(`${running.url}/?from=-1h`);
  const refresh = async () => {
    const [value] = benchEvents({ seed: `${asked}`, count: 100, startMs: Date.now() });
    await publisher.publish('live', [{ value: value as Buffer, partition: 0 }]);
    await page.clock.runFor(5_000);
    while (pending > 0) await sleep(5);
  };
  for (let n = 0; n < 100; n++) await refresh();
  const before = await usedMb();
  const bodiesBefore = bodies;
  for (let n = 0; n < refreshes; n++) await refresh();
  const after = await usedMb();
  say(
    `  heap of a tab: ${before.toFixed(1)} MB, after ${refreshes} refreshes ${after.toFixed(1)} MB ` +
      `(${(after - before).toFixed(2)} MB more; ${bodies - bodiesBefore} answers with new data)`,
  );
  await context.close();
  await publisher.close();
  await running.stop();
}

function spread(all: readonly number[] = []): string {
  const sorted = all.toSorted((a, b) => a - b);
  const [least = 0, middle = 0, most = 0] = [
    sorted[0],
    sorted[sorted.length >> 1],
    sorted.at(-1),
  ].map((value) => Math.round(value ?? 0));
  return `${middle} ms (${least}–${most})`;
}
