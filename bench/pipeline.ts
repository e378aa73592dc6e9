import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createClient } from '@clickhouse/client';
import { configSchema } from '../src/config/schema.ts';
import { openKafkaPublisher } from '../src/kafka/client/kafka-publisher.ts';
import { ensureTopics } from '../src/kafka/client/kafka-topics.ts';
import { type LocalStack, startLocalStack } from '../src/local/stack/local-stack.ts';
import { clickHouseKafkaEngine } from './peers/clickhouse-kafka-engine.ts';
import { idiomatic } from './peers/idiomatic.ts';
import { java, kafkaStreams } from './peers/java.ts';
import { type Peer, peerQuantiles, type RunningPeer, stageNames } from './peers/peer.ts';
import { cpuSecondsOf, peakBytesOf } from './peers/process-usage.ts';
import { tailmark, tailmarkBefore } from './peers/tailmark.ts';
import { benchEvents } from './traffic/bench-events.ts';

/**
 * From a topic on the real Kafka to tails in the real ClickHouse: tailmark and other ways to the
 * same numbers, in turn, in one run. Each is warmed up on a topic of its own; then a round is all
 * of the measured topic by each, or a part of it by one that is slow. CPU seconds are those of its
 * process and of ClickHouse; the broker counts for nobody. What each has stored is held against the
 * input before its number counts.
 *
 *     npm run bench -- pipeline [--events N] [--rounds N] [--per 100,1] [--peers NAME,NAME]
 *                               [--profile FILE]      a CPU profile of tailmark's last round
 *                               [--before CHECKOUT]   against another checkout, in which it was run before
 */
const all: readonly Peer[] = [tailmark, idiomatic, java, kafkaStreams, clickHouseKafkaEngine];
const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '4000000' },
    rounds: { type: 'string', default: '3' },
    per: { type: 'string', default: '100,1' },
    peers: { type: 'string', default: all.map(({ name }) => name).join(',') },
    profile: { type: 'string' },
    before: { type: 'string' },
  },
});
if (values.profile !== undefined) process.env.TAILMARK_BENCH_PROFILE = values.profile;
const events = Number(values.events);
const warmEvents = Math.min(events, 300_000);
const { before } = values;
const peers = [
  ...all.filter(({ name }) => values.peers.split(',').includes(name)),
  ...(before === undefined ? [] : [tailmarkBefore(before)]),
];
const startMs = Math.floor(Date.now() / 60_000 - 10) * 60_000;
/** A quantile may be off by so much of its value: what the digests of all of them keep. */
const TOLERANCE = 0.03;
const say = (text: string) => process.stdout.write(`${text}\n`);

interface Measured {
  readonly perSecond: number;
  readonly perCpuSecond: number;
  readonly ownCpuSeconds: number;
  readonly clickhouseCpuSeconds: number;
  readonly note: string | undefined;
}

interface StageTruth {
  readonly sumMs: number;
  readonly quantiles: readonly number[];
}

type Truth = ReadonlyMap<string, StageTruth>;

const dir = mkdtempSync(join(tmpdir(), 'tailmark-bench-'));
const stack = await startLocalStack({ dir, fresh: true });
try {
  const truths = new Map(counts().map((count) => [count, truthOf(count)]));
  for (const perMessage of values.per.split(',').map(Number)) await compare(perMessage, truths);
} finally {
  await stack.stop();
  rmSync(dir, { recursive: true, force: true });
}

/** How many events a peer is given. */
function countFor({ share = 1 }: Peer): number {
  return Math.floor((events * share) / 100) * 100;
}

/** Each number of events that some peer is given. */
function counts(): number[] {
  return [...new Set(peers.map(countFor))];
}

async function compare(perMessage: number, truths: ReadonlyMap<number, Truth>): Promise<void> {
  say(`${events} events, ${perMessage} a message, ${values.rounds} rounds, median (least to most)`);
  const warm = `warm-${perMessage}`;
  const main = (count: number) => `main-${perMessage}-${count}`;
  await fill(warm, warmEvents, perMessage);
  for (const count of counts()) await fill(main(count), count, perMessage);
  const results = new Map<Peer, Measured[]>(peers.map((peer) => [peer, []]));
  const running = new Map<Peer, RunningPeer>();
  try {
    for (const [n, peer] of peers.entries()) {
      const started = await peer.start(stack);
      running.set(peer, started);
      await run(started, warm, `warm_${perMessage}_${n}`, warmEvents);
    }
    for (let round = 1; round <= Number(values.rounds); round++) {
      for (const [n, peer] of peers.entries()) {
        const database = `main_${perMessage}_${n}_${round}`;
        const started = running.get(peer) as RunningPeer;
        const count = countFor(peer);
        results.get(peer)?.push(await run(started, main(count), database, count));
        await check(peer, database, count, truths.get(count) as Truth);
        await drop(database);
      }
    }
    const ours = results.get(tailmark);
    for (const peer of peers) report(peer, results.get(peer) ?? [], ours, running.get(peer)?.pid);
  } finally {
    for (const each of running.values()) await each.stop();
  }
}

/** One task, and what it cost. */
async function run(
  peer: RunningPeer,
  topic: string,
  database: string,
  count: number,
): Promise<Measured> {
  const client = createClient({ url: stack.clickhouse.url });
  await client.command({ query: `CREATE DATABASE ${database}` });
  await client.close();
  const task = { topic, group: database, database, events: count };
  await peer.prepare?.(task);
  const server = (stack satisfies LocalStack).clickhouse.pid;
  const own = () => (peer.pid === undefined ? 0 : cpuSecondsOf(peer.pid));
  const startedMs = performance.now();
  const [ownBefore, serverBefore] = [own(), cpuSecondsOf(server)];
  const note = await peer.ingest(task);
  const seconds = (performance.now() - startedMs) / 1000;
  const ownCpuSeconds = own() - ownBefore;
  const clickhouseCpuSeconds = cpuSecondsOf(server) - serverBefore;
  return {
    perSecond: count / seconds,
    perCpuSecond: count / (ownCpuSeconds + clickhouseCpuSeconds),
    ownCpuSeconds,
    clickhouseCpuSeconds,
    note,
  };
}

async function drop(database: string): Promise<void> {
  const client = createClient({ url: stack.clickhouse.url });
  await client.command({ query: `DROP DATABASE ${database} SYNC` });
  await client.close();
}

/** Requests exactly, sums to a millionth, quantiles to the tolerance. */
async function check(peer: Peer, database: string, count: number, truth: Truth): Promise<void> {
  const client = createClient({ url: stack.clickhouse.url, database });
  const answer = await client.query({ query: peer.sums, format: 'JSONEachRow' });
  const rows = await answer.json<{
    stage: string;
    requests: string;
    sum_ms: number;
    quantiles: number[];
  }>();
  await client.close();
  const wrong: string[] = [];
  const isNear = (found: number, right: number, share: number) =>
    Math.abs(found - right) <= share * right;
  for (const [stage, { sumMs, quantiles }] of truth) {
    const row = rows.find((each) => each.stage === stage);
    const isRight =
      Number(row?.requests) === count &&
      isNear(Number(row?.sum_ms), sumMs, 1e-6) &&
      quantiles.every((right, n) => isNear(Number(row?.quantiles[n]), right, TOLERANCE));
    if (!isRight) wrong.push(`${stage}: ${JSON.stringify(row)} instead of ${sumMs} ${quantiles}`);
  }
  if (wrong.length > 0) throw new Error(`${peer.name} stored\n${wrong.join('\n')}`);
}

function truthOf(count: number): Truth {
  const durations = new Map(stageNames.map((stage) => [stage as string, new Float64Array(count)]));
  let n = 0;
  for (const message of benchEvents({ seed: 1, count, eventsPerMessage: 100, startMs })) {
    for (const line of message.toString().split('\n')) {
      const event = JSON.parse(line) as { total_ms: number; stages_ms: Record<string, number> };
      for (const [stage, ms] of Object.entries(event.stages_ms)) set(stage, ms);
      set('total', event.total_ms);
      n++;
    }
  }
  return new Map(
    [...durations].map(([stage, values]) => {
      values.sort();
      const quantiles = peerQuantiles.map((q) => values[Math.ceil(q * count) - 1] as number);
      return [stage, { sumMs: values.reduce((sum, ms) => sum + ms, 0), quantiles }];
    }),
  );

  function set(stage: string, ms: number): void {
    (durations.get(stage) as Float64Array)[n] = ms;
  }
}

async function fill(topic: string, count: number, eventsPerMessage: number): Promise<void> {
  const kafka = configSchema.parse({ kafka: { brokers: stack.kafka.brokers } }).kafka;
  await ensureTopics(kafka, [{ topic }]);
  const publisher = await openKafkaPublisher(kafka);
  let batch: { value: Buffer }[] = [];
  let bytes = 0;
  for (const value of benchEvents({ seed: 1, count, eventsPerMessage, startMs })) {
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

function report(
  peer: Peer,
  results: readonly Measured[],
  ours: readonly Measured[] | undefined,
  pid: number | undefined,
): void {
  const of = (pick: (measured: Measured) => number, among = results) =>
    among.map(pick).sort((a, b) => a - b);
  const wall = of(({ perSecond }) => perSecond);
  const cpu = of(({ perCpuSecond }) => perCpuSecond);
  const own = median(of(({ ownCpuSeconds }) => ownCpuSeconds));
  const server = median(of(({ clickhouseCpuSeconds }) => clickhouseCpuSeconds));
  // Round by round, as a machine's speed changes.
  const ratios = results.map(
    ({ perCpuSecond }, n) => (ours?.[n]?.perCpuSecond ?? 0) / perCpuSecond,
  );
  const [least, ratio, most] = [0, ratios.length >> 1, -1].map((n) =>
    ratios
      .toSorted((a, b) => a - b)
      .at(n)
      ?.toFixed(2),
  );
  const peak = pid === undefined ? '' : `, peak ${Math.round(peakBytesOf(pid) / 2 ** 20)} MiB`;
  say(
    [
      `  ${peer.name}: ${peer.about}${peer.share === undefined ? '' : `; ${countFor(peer)} events`}`,
      `    ${spread(cpu)} events per CPU second (${own.toFixed(1)} s own, ${server.toFixed(1)} s ClickHouse)`,
      `    ${spread(wall)} events per second${peak}`,
      ...(results.at(-1)?.note === undefined ? [] : [`    ${results.at(-1)?.note}`]),
      ...(peer === tailmark || ours === undefined
        ? []
        : [`    tailmark does ${ratio} (${least}–${most}) times as many per CPU second`]),
    ].join('\n'),
  );
}

function spread(sorted: readonly number[]): string {
  return `${k(median(sorted))} (${k(sorted[0])}–${k(sorted.at(-1))})`;
}

function median(sorted: readonly number[]): number {
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function k(perSecond: number | undefined): string {
  return `${Math.round((perSecond ?? 0) / 1000)} k`;
}
