import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { standardStages, totalStage } from '../src/base/dimensions.ts';
import { configSchema } from '../src/config/schema.ts';
import { ensureTopics } from '../src/kafka/client/kafka-topics.ts';
import { startLocalStack } from '../src/local/stack/local-stack.ts';
import { type ClickHouseClient, openClickHouse } from '../src/sink/client/clickhouse.ts';
import { migrate } from '../src/sink/migrate/migrate.ts';

/**
 * The detector at its limits, as a process of its own beside a real Kafka and ClickHouse:
 *
 * - first start: series of ten stages with two hours of past, until the detector is ready;
 * - backlog: ten times as many series as are evaluated, ten minutes behind when the detector restarts, until
 *   it is back in real time. How many of those with the most requests are evaluated.
 *
 * Windows are filled by SQL: states are drawn once, and each series has some of its size. Beside the time:
 * the most memory of the process, whether it has kept the lead, and how long /healthz has kept a caller
 * waiting.
 *
 * A smaller --series is the same at a smaller scale, for a machine that has other work.
 *
 *     npm run bench -- detector-limits [--series 2000] [--past-minutes 120] [--only first|backlog]
 */
const { values: given } = parseArgs({
  options: {
    series: { type: 'string', default: '2000' },
    'past-minutes': { type: 'string', default: '120' },
    only: { type: 'string', default: '' },
  },
});
const maxSeries = Number(given.series);
const pastWindows = Number(given['past-minutes']) * 6;
const windowMs = 10_000;
/** Windows before and after the backlog, and of the backlog. */
const backlog = { before: 30, windows: 60, after: 60 } as const;
const stages = [totalStage, ...standardStages];
const variants = 8;
const classes = 9;
const bin = fileURLToPath(new URL('../bin/tailmark.js', import.meta.url));
const say = (text: string) => process.stdout.write(`${text}\n`);
const secondsOf = (ms: number) => (ms / 1000).toFixed(1);

const dir = mkdtempSync(join(tmpdir(), 'tailmark-bench-'));
const stack = await startLocalStack({ dir });

interface World {
  readonly client: ClickHouseClient;
  readonly env: Readonly<Record<string, string>>;
  readonly topic: string;
}

async function worldOf(name: string): Promise<World> {
  const topic = `bench.${name}`;
  const env = {
    TAILMARK_KAFKA_BROKERS: stack.kafka.brokers.join(','),
    TAILMARK_KAFKA_TOPICS: topic,
    TAILMARK_KAFKA_GROUP_ID: name,
    TAILMARK_CLICKHOUSE_URL: stack.clickhouse.url,
    TAILMARK_CLICKHOUSE_DATABASE: name,
    TAILMARK_ALERT_TOPIC: `${topic}.anomalies`,
    TAILMARK_HTTP_LISTEN: '127.0.0.1:0',
    TAILMARK_DETECT_MAX_SERIES: String(maxSeries),
  };
  const config = configSchema.parse({
    kafka: { brokers: stack.kafka.brokers },
    clickhouse: { url: stack.clickhouse.url, database: name, request_timeout: '10m' },
  });
  await ensureTopics(config.kafka, [{ topic, partitions: 1 }]);
  await migrate(config.clickhouse);
  const client = openClickHouse(config.clickhouse);
  // The coarser windows are filled apart: to make them of these takes longer than all else.
  await client.command({ query: 'DROP VIEW latency_1m_fill' });
  await fillTemplates(client);
  return { client, env, topic };
}

/** States to choose from, by requests (a power of two) and stage or total. */
async function fillTemplates(client: ClickHouseClient): Promise<void> {
  const unit = (n: number) => `((cityHash64(number, c, v, t, ${n}) + 1) / 18446744073709551616)`;
  const normal = `sqrt(-2 * log(${unit(1)})) * cos(2 * pi() * ${unit(2)})`;
  const state = `quantilesTDigest${'State'}(0.5, 0.9, 0.95, 0.99, 0.999)`;
  await client.command({
    query: `CREATE TABLE template ENGINE = Memory AS
      SELECT c, v, t, count() AS requests, ${state}(ms) AS latency, sum(ms) AS sum_ms, min(ms) AS min_ms,
          max(ms) AS max_ms, sumMap(map(toInt16(floor(4 * log2(ms))), toFloat64(1))) AS bands,
          sumMap(map(toInt16(floor(4 * log2(ms))), toFloat64(ms))) AS bands_ms
      FROM (
          SELECT c, v, t, toFloat32(exp(if(t, 4.5, 2.5) + 0.4 * ${normal})) AS ms
          FROM (SELECT arrayJoin(range(${classes})) AS c, arrayJoin(range(${variants})) AS v,
              arrayJoin([true, false]) AS t, arrayJoin(range(toUInt64(pow(2, c)))) AS number)
      )
      GROUP BY c, v, t`,
  });
}

/** @param sizeOf the size of series i, as an exponent of two: an expression of ClickHouse. */
async function fillWindows(
  client: ClickHouseClient,
  names: readonly string[],
  {
    series,
    fromMs,
    windows,
    sizeOf,
  }: {
    readonly series: number;
    readonly fromMs: number;
    readonly windows: number;
    readonly sizeOf: string;
  },
): Promise<void> {
  const step = Math.max(1, Math.floor(400_000 / (series * names.length)));
  for (let at = 0; at < windows; at += step) {
    const count = Math.min(step, windows - at);
    await client.command({
      query: `INSERT INTO latency_10s
          (window_start, model, host, stage, requests, sum_ms, min_ms, max_ms, latency, bands, bands_ms)
        SELECT w.window, w.model, w.host, w.stage, x.requests, x.sum_ms, x.min_ms, x.max_ms, x.latency,
            x.bands, if(w.t, x.bands_ms, map())
        FROM (
            SELECT toDateTime(${fromMs / 1000} + 10 * (${at} + n), 'UTC') AS window,
                concat('model-', toString(cityHash64(i) % 100)) AS model,
                hex(cityHash64(i, 'host')) AS host,
                stage, stage = '${totalStage}' AS t, toUInt8(${sizeOf}) AS c,
                toUInt8(cityHash64(i, n + ${at}, stage) % ${variants}) AS v
            FROM (SELECT number AS i FROM numbers(${series}))
            ARRAY JOIN range(${count}) AS n
            ARRAY JOIN [${names.map((name) => `'${name}'`).join(', ')}] AS stage
        ) AS w
        INNER JOIN template AS x ON x.c = w.c AND x.v = w.v AND x.t = w.t`,
    });
  }
}

/** The ledger says that all before a time is stored. */
async function reach({ client, env, topic }: World, watermarkMs: number, at: number) {
  const iso = new Date(watermarkMs).toISOString();
  const row = {
    ...{ group_id: env.TAILMARK_KAFKA_GROUP_ID, topic, partition: 0, watermark: iso },
    ...{ start_offset: at, end_offset: at + 1, first_timestamp: iso, last_timestamp: iso },
    ...{ records: 1, consumed: 1, aggregated: 1, samples: 1, row_count: 1, instance: 'bench' },
    ...{ window_min: Math.floor(watermarkMs / 1000), window_max: Math.floor(watermarkMs / 1000) },
  };
  await client.insert({
    ...{ table: 'flushes', values: [row], format: 'JSONEachRow' },
    clickhouse_settings: { date_time_input_format: 'best_effort' },
  });
}

/** A detector in a process of its own, and what is seen of it from outside. */
class Detecting {
  readonly #process: ChildProcess;
  readonly #startedMs = performance.now();
  #log = '';
  #url = '';
  longestMs = 0;
  hasLed = false;
  lostLead = 0;
  peakMiB = 0;
  /** CPU time of all its threads. */
  cpuSeconds = 0;

  constructor(env: Readonly<Record<string, string>>) {
    const { PATH, HOME } = process.env;
    this.#process = spawn(process.execPath, [bin, 'run', '--roles', 'detect,serve'], {
      env: { PATH, HOME, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#log += text;
      });
    }
  }

  get elapsedMs(): number {
    return performance.now() - this.#startedMs;
  }

  logged(text: string): boolean {
    return this.#log.includes(text);
  }

  /** Looks at it again and again, until something is so. */
  async until(isSo: () => Promise<boolean> | boolean, deadlineMs: number): Promise<void> {
    while (!(await isSo())) {
      if (this.#process.exitCode !== null || this.elapsedMs > deadlineMs) {
        throw new Error(
          `it took ${secondsOf(this.elapsedMs)} s, and more: ${this.#log.slice(-3_000)}`,
        );
      }
      await this.#look();
      await sleep(250);
    }
  }

  async stop(): Promise<void> {
    this.#process.kill('SIGTERM');
    while (this.#process.exitCode === null && this.#process.signalCode === null) await sleep(50);
  }

  async #look(): Promise<void> {
    const status = readFileSync(`/proc/${this.#process.pid}/status`, 'utf8');
    this.peakMiB = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
    const stat = readFileSync(`/proc/${this.#process.pid}/stat`, 'utf8').split(') ')[1] ?? '';
    // In ticks of ten milliseconds: user and system time are the 14th and 15th field.
    const [user, system] = stat.split(' ').slice(11, 13).map(Number) as [number, number];
    this.cpuSeconds = (user + system) / 100;
    this.#url ||= /"url":"([^"]+)"/.exec(this.#log)?.[1] ?? '';
    if (this.#url === '') return;
    const askedMs = performance.now();
    await this.#get('/healthz');
    this.longestMs = Math.max(this.longestMs, performance.now() - askedMs);
    const page = await this.#get('/metrics');
    const leads = /^tailmark_detector_leader 1$/m.test(page);
    if (this.hasLed && !leads) this.lostLead += 1;
    this.hasLed ||= leads;
  }

  /** By a connection of its own: one that is kept may be closed from the other end just then. */
  async #get(path: string): Promise<string> {
    return (await fetch(`${this.#url}${path}`, { headers: { connection: 'close' } })).text();
  }

  get outline(): string {
    const lost = this.logged('this process stands by') || this.lostLead > 0 ? 'lost' : 'kept';
    return (
      `${this.cpuSeconds.toFixed(0)} s of CPU, ${this.peakMiB.toFixed(0)} MiB at most, lead ${lost}, ` +
      `/healthz within ${this.longestMs.toFixed(0)} ms`
    );
  }
}

async function firstStart(): Promise<void> {
  const world = await worldOf('first');
  const endMs = Math.floor(Date.now() / windowMs) * windowMs;
  const fromMs = endMs - pastWindows * windowMs;
  const filledMs = performance.now();
  await fillWindows(world.client, stages, {
    ...{ series: maxSeries, fromMs, windows: pastWindows, sizeOf: '4 + i % 4' },
  });
  await reach(world, endMs, 0);
  process.stderr.write(`filled in ${secondsOf(performance.now() - filledMs)} s\n`);
  const detecting = new Detecting(world.env);
  await detecting.until(() => detecting.logged('detector ready'), 900_000);
  say(
    `first start, ${maxSeries} series × ${stages.length} stages, ${pastWindows / 6} min of past: ` +
      `ready after ${secondsOf(detecting.elapsedMs)} s; ${detecting.outline}`,
  );
  await detecting.stop();
  await world.client.close();
}

async function catchUp(): Promise<void> {
  const world = await worldOf('backlog');
  const offered = 10 * maxSeries;
  const names = stages.filter((name) =>
    [totalStage, 'queue', 'features', 'forward'].includes(name),
  );
  // 100 parts of the series have 256 requests a window, 200 have 128, and so on.
  const part = offered / 20_000;
  const sizeOf = `greatest(0, 8 - toInt32(floor(log2(1 + i / ${100 * part}))))`;
  const fill = async (fromMs: number, toMs: number) => {
    const windows = Math.round((toMs - fromMs) / windowMs);
    await fillWindows(world.client, names, { series: offered, fromMs, windows, sizeOf });
  };
  const floor = (ms: number) => Math.floor(ms / windowMs) * windowMs;
  const beginMs = floor(Date.now()) - backlog.before * windowMs;
  // Time goes on meanwhile: windows of the next minutes are there, too.
  const filledMs = beginMs + 2 * backlog.before * windowMs;
  await fill(beginMs, filledMs);
  let at = 0;
  await reach(world, Date.now(), at++);
  const first = new Detecting(world.env);
  await first.until(async () => {
    await reach(world, Date.now(), at++);
    return (await judgedUntil(world)) > beginMs;
  }, 900_000);
  await first.stop();
  const stoppedMs = await judgedUntil(world);
  process.stderr.write(`before the backlog: ${first.outline}\n`);

  // It is away for as long as the backlog is; windows of that time, and of the time after it, are stored.
  const backMs = stoppedMs + backlog.windows * windowMs;
  await fill(filledMs, backMs + backlog.after * windowMs);
  process.stderr.write(`filled ${secondsOf(backMs - Date.now())} s before it starts again\n`);
  while (Date.now() < backMs) await sleep(200);
  await reach(world, Date.now(), at++);
  const detecting = new Detecting(world.env);
  let behindMs = Number.POSITIVE_INFINITY;
  await detecting.until(async () => {
    await reach(world, Date.now(), at++);
    behindMs = Date.now() - (await judgedUntil(world));
    return behindMs < 2.5 * windowMs;
  }, backlog.after * windowMs);
  const tookMs = detecting.elapsedMs;
  await detecting.stop();
  const { evaluated, large, largeEvaluated } = await evaluatedSeries(world, 32);
  say(
    `backlog of ${backlog.windows / 6} min, ${offered} series × ${names.length} stages offered: ` +
      `back in real time after ${secondsOf(tookMs)} s; ${detecting.outline}`,
  );
  say(
    `  ${evaluated} series are evaluated: ${largeEvaluated} of the ${large} with the most requests ` +
      '(32 a window and more)',
  );
  await world.client.close();
}

async function rowOf<Row>({ client }: World, query: string): Promise<Row | undefined> {
  const answer = await client.query({ query, format: 'JSONEachRow' });
  return (await answer.json<Row>())[0];
}

async function judgedUntil(world: World): Promise<number> {
  const row = await rowOf<{ ms: string }>(
    world,
    'SELECT toUnixTimestamp64Milli(max(judged_until)) AS ms FROM detector_progress',
  );
  return Number(row?.ms ?? 0);
}

/** Of the series in the last snapshot, whose parts are named by them: those of so many requests a window. */
async function evaluatedSeries(world: World, requests: number) {
  const row = await rowOf<Record<'evaluated' | 'large' | 'largeEvaluated', string>>(
    world,
    `WITH evaluated AS (
        SELECT JSONExtractString(part, 6) AS host FROM detector_state FINAL
        WHERE startsWith(part, '[') AND snapshot IN (
            SELECT argMax(snapshot, as_of) FROM detector_snapshots)
     ), large AS (
        SELECT DISTINCT host FROM latency_10s WHERE stage = '${totalStage}' AND requests >= ${requests}
     )
     SELECT (SELECT count() FROM evaluated) AS evaluated, (SELECT count() FROM large) AS large,
         (SELECT count() FROM evaluated WHERE host IN (SELECT host FROM large)) AS largeEvaluated`,
  );
  return { evaluated: row?.evaluated, large: row?.large, largeEvaluated: row?.largeEvaluated };
}

try {
  if (given.only !== 'backlog') await firstStart();
  if (given.only !== 'first') await catchUp();
} finally {
  await stack.stop();
  rmSync(dir, { recursive: true, force: true });
}
