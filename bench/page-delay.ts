import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createClient } from '@clickhouse/client';
import { configSchema } from '../src/config/schema.ts';
import type { AnomalyEvent } from '../src/contract/anomaly-event.ts';
import { Random } from '../src/generate/random.ts';
import { openKafkaPublisher } from '../src/kafka/client/kafka-publisher.ts';
import { ensureTopics } from '../src/kafka/client/kafka-topics.ts';
import type { OutgoingMessage } from '../src/kafka/client/publisher.ts';
import { followTopic } from '../src/kafka/follow-topic.ts';
import { startLocalStack } from '../src/local/stack/local-stack.ts';
import { migrate } from '../src/sink/migrate/migrate.ts';
import {
  type DelayFault,
  DelayTraffic,
  delayFaults,
  delayPartitions,
  endMsOf,
  eventOf,
  type TimedRequest,
} from './delay-traffic.ts';
import { EndedRequests } from './ended-requests.ts';

/**
 * How long it takes from a fault to its page: `tailmark run` at default settings, a process of its own
 * each round, over a real Kafka and a real ClickHouse. The past of a round is sent first, as fast as it
 * goes; then each event is published when its request has ended, a message each. A round's time begins
 * when the first event of the fault is sent, and ends with the timestamp of the page on the alert topic.
 * Rounds differ by their seed, and by where in a window the fault begins.
 *
 *     npm run bench -- page-delay [--rounds 5] [--rate 20] [--past-hours 26] [--at-once 5] [--fault TEXT]
 */
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    rate: { type: 'string', default: '20' },
    'past-hours': { type: 'string', default: '26' },
    'at-once': { type: 'string', default: '5' },
    fault: { type: 'string', default: '' },
  },
});
const perSecond = Number(values.rate);
const pastMs = Number(values['past-hours']) * 3_600_000;
const WINDOW_MS = 10_000;
/** Judged in real time for so long before the fault. */
const CALM_MS = 40_000;
const JUDGED_DEADLINE_MS = 600_000;
const PAGE_DEADLINE_MS = 240_000;
const POLL_MS = 500;
const PER_MESSAGE = 100;
const PIECE_MS = 600_000;
const say = (text: string) => process.stdout.write(`${text}\n`);
const inSeconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

/** A fault and a seed, with a topic, a group and a database of its own. */
interface Round {
  readonly fault: DelayFault;
  readonly seed: number;
  readonly name: string;
}

interface Outcome {
  /** From the first event of the fault; undefined where there was no page in time. */
  readonly delayMs: number | undefined;
  readonly page: AnomalyEvent | undefined;
  /** Pages before the fault. */
  readonly early: number;
}

const dir = mkdtempSync(join(tmpdir(), 'tailmark-bench-'));
const stack = await startLocalStack({ dir, fresh: true });
const kafka = configSchema.parse({ kafka: { brokers: stack.kafka.brokers } }).kafka;
const publisher = await openKafkaPublisher(kafka);
const children = new Set<ChildProcess>();
try {
  const faults = delayFaults.filter(({ name }) => name.includes(values.fault));
  const rounds = faults.flatMap((fault, n) =>
    Array.from({ length: Number(values.rounds) }, (_, i): Round => {
      return { fault, seed: i + 1, name: `delay_${n}_${i + 1}` };
    }),
  );
  say(`${perSecond} requests/s of one model, ${values['past-hours']} h of past, default settings`);
  const outcomes = new Map<Round, Outcome>();
  const loads: number[] = [];
  for (let at = 0; at < rounds.length; at += Number(values['at-once'])) {
    const together = rounds.slice(at, at + Number(values['at-once']));
    const found = await runTogether(together);
    loads.push(loadavg()[0] as number);
    together.forEach((round, i) => {
      outcomes.set(round, found[i] as Outcome);
    });
  }
  for (const fault of faults) report(fault, outcomes);
  // Of its own processes alone it is 2 or less: above that others have made it slower.
  say('');
  say(
    `load average ${loads.map((load) => load.toFixed(1)).join(', ')}; ${availableParallelism()} processors`,
  );
  const isWhole = [...outcomes.values()].every(({ delayMs }) => delayMs !== undefined);
  process.exitCode = isWhole ? 0 : 1;
} finally {
  for (const child of children) child.kill('SIGTERM');
  await publisher.close();
  await stack.stop();
  rmSync(dir, { recursive: true, force: true });
}

/** Rounds at once have the same past: it is drawn once, and sent to the topic of each. */
async function runTogether(rounds: readonly Round[]): Promise<Outcome[]> {
  const toMs = Date.now();
  for (const { name } of rounds) {
    await ensureTopics(kafka, [
      { topic: name, partitions: delayPartitions },
      { topic: `${name}.anomalies`, partitions: 1 },
    ]);
    await migrate(configSchema.parse({ clickhouse: clickhouseOf(name) }).clickhouse);
  }
  const unended = await sendPast(rounds, toMs);
  // One that fails ends when the others have ended: they send through the same publisher.
  const settled = await Promise.allSettled(rounds.map((round) => run(round, toMs, unended)));
  return settled.map((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  });
}

/** Publishes the requests of the past in the order in which they end; gives those that end after it. */
async function sendPast(rounds: readonly Round[], toMs: number): Promise<TimedRequest[]> {
  const traffic = new DelayTraffic('past', perSecond, toMs - pastMs);
  let open: TimedRequest[] = [];
  for (let atMs = toMs - pastMs; atMs < toMs; atMs += PIECE_MS) {
    const untilMs = Math.min(toMs, atMs + PIECE_MS);
    open.push(...traffic.until(untilMs));
    const ended = open.filter((request) => endMsOf(request) < untilMs);
    open = open.filter((request) => endMsOf(request) >= untilMs);
    ended.sort((a, b) => endMsOf(a) - endMsOf(b));
    const messages = Array.from({ length: Math.ceil(ended.length / PER_MESSAGE) }, (_, n) => {
      const lines = ended.slice(n * PER_MESSAGE, (n + 1) * PER_MESSAGE).map(eventOf);
      return { value: lines.join('\n'), partition: n % delayPartitions };
    });
    for (const { name } of rounds) await publisher.publish(name, messages);
  }
  return open;
}

/** A round from the end of its past on. */
async function run(
  { fault, seed, name }: Round,
  fromMs: number,
  unended: readonly TimedRequest[],
): Promise<Outcome> {
  const opened: { readonly page: AnomalyEvent; readonly atMs: number }[] = [];
  const followed = await followTopic(kafka, `${name}.anomalies`, ({ value, timestampMs }) => {
    const page: AnomalyEvent = JSON.parse(String(value));
    if (page.state === 'opened') opened.push({ page, atMs: timestampMs });
  });
  const child = start(name);
  const traffic = new DelayTraffic(`live ${seed}`, perSecond, fromMs);
  const publish = (messages: readonly OutgoingMessage[]) => publisher.publish(name, messages);
  const sender = new EndedRequests(publish, traffic, unended);
  const sending = sender.send();
  try {
    await untilJudged(name);
    // The same part of a window for a seed, whatever the machine took for the past.
    const phaseMs = new Random(`phase ${seed}`).uniform() * WINDOW_MS;
    const faultMs = Math.ceil((Date.now() + CALM_MS) / WINDOW_MS) * WINDOW_MS + phaseMs;
    traffic.strike(fault, faultMs);
    const isOver = () => opened.some(({ atMs }) => atMs >= sender.firstHitMs);
    const deadlineMs = faultMs + PAGE_DEADLINE_MS;
    while (!isOver() && Date.now() < deadlineMs) await sleep(POLL_MS);
    const first = opened.find(({ atMs }) => atMs >= sender.firstHitMs);
    const delayMs = first && first.atMs - sender.firstHitMs;
    const early = opened.filter(({ atMs }) => !(atMs >= sender.firstHitMs)).length;
    return { delayMs, page: first?.page, early };
  } finally {
    sender.stop();
    await sending;
    await followed.stop();
    await end(child);
  }
}

/** Resolves when the detector has evaluated all of the past, and what came since. */
async function untilJudged(database: string): Promise<void> {
  const client = createClient(clickhouseOf(database));
  const query = 'SELECT toUnixTimestamp64Milli(max(judged_until)) AS ms FROM detector_progress';
  const deadlineMs = Date.now() + JUDGED_DEADLINE_MS;
  try {
    for (let judgedMs = 0; judgedMs < Date.now() - 3 * WINDOW_MS; ) {
      if (Date.now() > deadlineMs)
        throw new Error(`${database}: the past is not evaluated in time`);
      await sleep(POLL_MS);
      const answer = await client.query({ query, format: 'JSONEachRow' });
      judgedMs = Number((await answer.json<{ ms: string }>())[0]?.ms ?? 0);
    }
  } finally {
    await client.close();
  }
}

function clickhouseOf(database: string) {
  return { url: stack.clickhouse.url, database };
}

/** Its only input is where it works. */
function start(name: string): ChildProcess {
  const bin = fileURLToPath(new URL('../bin/tailmark.js', import.meta.url));
  const child = spawn(process.execPath, [bin, 'run'], {
    env: {
      ...{ PATH: process.env.PATH, HOME: process.env.HOME },
      TAILMARK_KAFKA_BROKERS: stack.kafka.brokers.join(','),
      TAILMARK_KAFKA_TOPICS: name,
      TAILMARK_KAFKA_GROUP_ID: name,
      TAILMARK_CLICKHOUSE_URL: stack.clickhouse.url,
      TAILMARK_CLICKHOUSE_DATABASE: name,
      TAILMARK_ALERT_TOPIC: `${name}.anomalies`,
      TAILMARK_HTTP_LISTEN: '127.0.0.1:0',
      TAILMARK_LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  children.add(child);
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  children.delete(child);
  if (child.exitCode !== null) throw new Error(`tailmark run ended with ${child.exitCode}`);
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await exited;
}

/** Tells a page that needed more windows from one whose window was evaluated late. */
function windowsOf({ started_at, emitted_at, evidence: { windows } }: AnomalyEvent): string {
  const endMs = Date.parse(started_at) + windows * WINDOW_MS;
  const afterMs = Date.parse(emitted_at) - endMs;
  return `of ${windows} window${windows === 1 ? '' : 's'}, ${inSeconds(afterMs)} after the last ended`;
}

function report(fault: DelayFault, outcomes: ReadonlyMap<Round, Outcome>): void {
  say('');
  say(fault.name);
  const delaysMs: number[] = [];
  let rounds = 0;
  for (const [round, { delayMs, page, early }] of outcomes) {
    if (round.fault !== fault) continue;
    rounds += 1;
    if (delayMs !== undefined) delaysMs.push(delayMs);
    const found =
      delayMs === undefined || page === undefined
        ? `no page within ${PAGE_DEADLINE_MS / 1000} s`
        : `${inSeconds(delayMs)}, ${page.severity} ${page.kind} of ${page.stage}; ${windowsOf(page)}`;
    say(`  seed ${round.seed}: ${found}${early === 0 ? '' : `; ${early} pages before the fault`}`);
  }
  delaysMs.sort((a, b) => a - b);
  const at = (q: number) => inSeconds(delaysMs[Math.ceil(q * delaysMs.length) - 1] as number);
  const spread =
    delaysMs.length === 0
      ? ''
      : `; least ${inSeconds(delaysMs[0] as number)}, median ${at(0.5)}, most ${at(1)}`;
  say(`  paged ${delaysMs.length} of ${rounds}${spread}`);
}
