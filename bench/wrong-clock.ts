import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createClient } from '@clickhouse/client';
import { configSchema } from '../src/config/schema.ts';
import { openKafkaPublisher } from '../src/kafka/client/kafka-publisher.ts';
import { ensureTopics } from '../src/kafka/client/kafka-topics.ts';
import { startLocalStack } from '../src/local/stack/local-stack.ts';
import { migrate } from '../src/sink/migrate/migrate.ts';
import { startTailmark, tailmarkBin } from './dashboard/tailmark-process.ts';

/**
 * What a wrong clock loses: two ingesters read one topic, each into its own database. After a calm minute
 * the clock of one is set back and that of the other ahead, while events go on; later both are set right.
 * Printed: after how long each said so, whether it was ever ready meanwhile, and what it counted in the end.
 *
 *     npm run bench -- wrong-clock [--minutes 60] [--apart 6] [--rate 1000]
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    apart: { type: 'string', default: '6' },
    rate: { type: 'string', default: '1000' },
  },
});
const perSecond = Number(values.rate);
const wrongMs = Number(values.minutes) * 60_000;
const apartMs = Number(values.apart) * 60_000;
const PARTITIONS = 4;
const CALM_MS = 60_000;
const TICK_MS = 100;
const POLL_MS = 500;
const COUNTED_DEADLINE_MS = 600_000;
const topic = 'wrong_clock';
const say = (text: string) => process.stdout.write(`${text}\n`);
const inSeconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

/** Makes the wall clock of a process wrong at one SIGUSR2, and right at the next. */
const shiftAtSignal = (shiftMs: number) => `
const real = Date.now;
let shiftMs = 0;
process.on('SIGUSR2', () => { shiftMs = ${shiftMs} - shiftMs; });
Date.now = () => real() + shiftMs;
`;

const dir = mkdtempSync(join(tmpdir(), 'tailmark-bench-'));
const stack = await startLocalStack({ dir, fresh: true });
const kafka = configSchema.parse({ kafka: { brokers: stack.kafka.brokers } }).kafka;
const publisher = await openKafkaPublisher(kafka);
let sent = 0;
let isSending = true;
try {
  say(`${perSecond} events a second; clocks ${values.apart} min wrong for ${values.minutes} min`);
  await ensureTopics(kafka, [{ topic, partitions: PARTITIONS }]);
  const sending = send();
  const results = await Promise.allSettled([ingest('slow', -apartMs), ingest('fast', apartMs)]);
  isSending = false;
  await sending;
  for (const result of results) if (result.status === 'rejected') throw result.reason;
} finally {
  isSending = false;
  await publisher.close();
  await stack.stop();
  rmSync(dir, { recursive: true, force: true });
}

/** Publishes events that end now, by the right clock, until told to stop. */
async function send(): Promise<void> {
  const startMs = Date.now();
  while (isSending) {
    const due = Math.floor(((Date.now() - startMs) * perSecond) / 1000) - sent;
    const messages = Array.from({ length: due }, () => {
      const n = sent++;
      const event = {
        ts: Date.now() - 20,
        model: `m${n % 20}`,
        stages_ms: { forward: 10 + (n % 10) },
      };
      return { value: JSON.stringify(event), partition: n % PARTITIONS };
    });
    await publisher.publish(topic, messages);
    await sleep(TICK_MS);
  }
}

async function ingest(name: string, shiftMs: number): Promise<void> {
  const clickhouse = { url: stack.clickhouse.url, database: name };
  await migrate(configSchema.parse({ clickhouse }).clickhouse);
  const env = {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(shiftAtSignal(shiftMs))}`,
    TAILMARK_KAFKA_BROKERS: stack.kafka.brokers.join(','),
    TAILMARK_KAFKA_TOPICS: topic,
    TAILMARK_KAFKA_GROUP_ID: name,
    TAILMARK_KAFKA_START_FROM: 'earliest',
    TAILMARK_CLICKHOUSE_URL: stack.clickhouse.url,
    TAILMARK_CLICKHOUSE_DATABASE: name,
  };
  const tailmark = await startTailmark('ingest', env);
  const client = createClient(clickhouse);
  try {
    await sleep(CALM_MS);
    process.kill(tailmark.pid, 'SIGUSR2');
    const { saidMs, text, readyMs } = await watch(tailmark.url);
    process.kill(tailmark.pid, 'SIGUSR2');
    const rightMs = Date.now();
    isSending = false;
    const query = `SELECT sum(consumed) AS consumed, sum(rejected) AS rejected, sum(late) AS late,
      (SELECT sum(requests) FROM latency_1d WHERE stage = 'total') AS stored FROM flushes`;
    const deadlineMs = Date.now() + COUNTED_DEADLINE_MS;
    let row: Record<string, string> | undefined;
    do {
      await sleep(POLL_MS);
      const answer = await client.query({ query, format: 'JSONEachRow' });
      [row] = await answer.json<Record<string, string>>();
    } while (Number(row?.consumed) < sent && Date.now() < deadlineMs);
    const countedMs = Date.now() - rightMs;
    say(
      `  ${name}: said after ${inSeconds(saidMs)}; ready for ${inSeconds(readyMs)} after that; ` +
        `all is counted ${inSeconds(countedMs)} after the clock is right`,
    );
    say(`    ${text}`);
    say(
      `    sent ${sent}, consumed ${row?.consumed}, stored ${row?.stored}, ` +
        `rejected ${row?.rejected}, late ${row?.late}; verify exits with ${await verify(env)}`,
    );
    if (Number(row?.stored) !== sent) process.exitCode = 1;
  } finally {
    await client.close();
    await tailmark.stop();
  }
}

/** Asks for readiness while the clock is wrong. */
async function watch(url: string): Promise<{ saidMs: number; text: string; readyMs: number }> {
  const startMs = Date.now();
  let saidMs = Number.NaN;
  let text = '';
  let readyMs = 0;
  while (Date.now() - startMs < wrongMs) {
    const answer = await fetch(`${url}/readyz`);
    const body = await answer.text();
    const clock = body.split('\n').find((line) => line.includes('the clock'));
    if (!answer.ok && clock !== undefined && Number.isNaN(saidMs)) {
      saidMs = Date.now() - startMs;
      text = clock;
    }
    if (answer.ok && !Number.isNaN(saidMs)) readyMs += POLL_MS;
    await sleep(POLL_MS);
  }
  return { saidMs, text, readyMs };
}

/** Exit code of `tailmark verify`, with the right clock. */
async function verify(env: Readonly<Record<string, string>>): Promise<number | null> {
  const child: ChildProcess = spawn(process.execPath, [tailmarkBin, 'verify'], {
    env: { ...process.env, ...env, NODE_OPTIONS: '' },
    stdio: 'ignore',
  });
  return new Promise((resolve) => child.once('close', resolve));
}
