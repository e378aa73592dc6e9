import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ClickHouseClient, createClient } from '@clickhouse/client';
import { standardStages, totalStage } from '../src/base/dimensions.ts';
import { dayMs } from '../src/base/time.ts';
import { configSchema } from '../src/config/schema.ts';
import { startClickHouse } from '../src/local/clickhouse/clickhouse-server.ts';
import { migrate } from '../src/sink/migrate/migrate.ts';
import { readTails } from '../src/sink/windows/read-tails.ts';

/**
 * The p99 of one model over 30 days out of 1,000 series with ten requests a second each, as `tailmark
 * tails` and the API read it: windows of a day, and of an hour at the ends. Beside it the same of raw
 * events, sorted by model and time: those of one day of that model, times 30.
 *
 *     npm run bench -- month
 */
const MODELS = 50;
const SERIES_PER_MODEL = 20;
const DAYS = 30;
const HOURS = 24;
const REQUESTS_PER_HOUR = 36_000;
const ROUNDS = 15;
/** States to choose from: as large as those of so many requests, each drawn by itself. */
const TEMPLATES = 32;
const model = 'model-07';
/** Begins and ends amid a day, as ranges of a user do. */
const toMs = Math.floor(Date.now() / dayMs) * dayMs - dayMs / 2;
const fromMs = toMs - DAYS * dayMs;
const say = (text: string) => process.stdout.write(`${text}\n`);

const dir = mkdtempSync(join(tmpdir(), 'tailmark-bench-'));
const server = await startClickHouse({
  dataDir: dir,
  database: 'tailmark',
  onProgress: () => undefined,
});
const client = createClient({ url: server.url, database: 'tailmark' });
try {
  await migrate(configSchema.parse({ clickhouse: { url: server.url } }).clickhouse);
  await fillWindows(client);
  await fillRaw(client);
  await compare(client);
} finally {
  await client.close();
  await server.stop();
  rmSync(dir, { recursive: true, force: true });
}

/** Lognormal durations, as ClickHouse draws them. */
function drawn(seed: string): string {
  const unit = (n: number) => `((cityHash64(${seed}, ${n}) + 1) / 18446744073709551616)`;
  const normal = `sqrt(-2 * log(${unit(1)})) * cos(2 * pi() * ${unit(2)})`;
  return `toFloat32(exp(4 + 0.5 * ${normal}))`;
}

async function fillWindows(db: ClickHouseClient): Promise<void> {
  const command = (query: string) => db.command({ query });
  const state = `quantilesTDigest${'State'}(0.5, 0.9, 0.95, 0.99, 0.999)`;
  for (const [length, requests] of [
    ['1h', REQUESTS_PER_HOUR],
    ['1d', REQUESTS_PER_HOUR * HOURS],
  ] as const) {
    await command(`CREATE TABLE template_${length} ENGINE = Memory AS
       SELECT intDiv(number, ${requests}) AS n, ${state}(ms) AS latency, sum(ms) AS sum_ms, max(ms) AS max_ms
       FROM (SELECT number, ${drawn('number')} AS ms FROM numbers(${TEMPLATES * requests}))
       GROUP BY n`);
  }
  const stages = [totalStage, ...standardStages].map((stage) => `'${stage}'`).join(', ');
  const insert = (table: string, requests: number, windows: string) =>
    command(
      `INSERT INTO ${table} (window_start, model, version, region, stage, requests, sum_ms, max_ms, latency)
       SELECT w.at, w.model, w.version, 'eu-west-1', w.stage, ${requests}, t.sum_ms, t.max_ms, t.latency
       FROM
       (
           SELECT at, concat('model-', leftPad(toString(m), 2, '0')) AS model,
               concat('v', toString(v)) AS version, stage,
               toUInt64(cityHash64(at, m, v, stage) % ${TEMPLATES}) AS n
           FROM (SELECT ${windows} AS at)
           ARRAY JOIN at
           ARRAY JOIN range(${MODELS}) AS m
           ARRAY JOIN range(${SERIES_PER_MODEL}) AS v
           ARRAY JOIN [${stages}] AS stage
       ) AS w
       INNER JOIN template_${table.slice(-2)} AS t ON t.n = w.n`,
    );
  const seconds = (ms: number) => Math.floor(ms / 1000);
  const at = (from: number, step: number, n: string) =>
    `toDateTime(${seconds(from)} + ${step} * (${n}), 'UTC')`;
  const firstDayMs = Math.floor(fromMs / dayMs) * dayMs;
  // Hours of the days that the range covers in part; the view makes a day of them.
  for (const dayAtMs of [firstDayMs, firstDayMs + DAYS * dayMs]) {
    for (let hour = 0; hour < HOURS; hour += 8) {
      const hours = `arrayMap(n -> ${at(dayAtMs + hour * 3_600_000, 3_600, 'n')}, range(8))`;
      await insert('latency_1h', REQUESTS_PER_HOUR, hours);
    }
  }
  for (let day = 1; day < DAYS; day++) {
    const one = `[${at(firstDayMs + day * dayMs, 0, '0')}]`;
    await insert('latency_1d', REQUESTS_PER_HOUR * HOURS, one);
  }
}

async function fillRaw(db: ClickHouseClient): Promise<void> {
  await db.command({
    query: `CREATE TABLE raw (at DateTime64(3, 'UTC'), model LowCardinality(String),
            version LowCardinality(String), total_ms Float32) ENGINE = MergeTree ORDER BY (model, at)`,
  });
  const requests = REQUESTS_PER_HOUR * HOURS * SERIES_PER_MODEL;
  const names = `concat('model-', leftPad(toString(intDiv(number, ${requests}) + 6), 2, '0'))`;
  await db.command({
    query: `INSERT INTO raw SELECT toDateTime64(${Math.floor(fromMs / 1000)} + (number % ${requests}) / ${SERIES_PER_MODEL}, 3, 'UTC'),
            ${names}, concat('v', toString(number % ${SERIES_PER_MODEL})), ${drawn('number')} FROM numbers(${3 * requests})`,
  });
}

async function compare(db: ClickHouseClient): Promise<void> {
  const raw = async (how: string) => {
    const answer = await db.query({
      query: `SELECT ${how}(0.99)(total_ms) AS p99, count() AS requests FROM raw WHERE model = '${model}'`,
      format: 'JSONEachRow',
    });
    const [row] = await answer.json<{ p99: number; requests: string }>();
    return { p99: Number(row?.p99), requests: Number(row?.requests) };
  };
  const rollups = async () => {
    const filters = { version: '', region: '', requestType: '', coldStart: '' } as const;
    const query = { fromMs, toMs, model, stage: totalStage, ...filters };
    const [tails] = await readTails(db, query);
    return { p99: Number(tails?.p99_ms), requests: Number(tails?.requests) };
  };
  const ways = {
    'windows of a day and an hour': rollups,
    'raw events of a day, quantileTDigest': () => raw('quantileTDigest'),
    'raw events of a day, quantile (a sample of 8,192)': () => raw('quantile'),
  };
  const took = new Map<string, number[]>(Object.keys(ways).map((name) => [name, []]));
  const exact = await raw('quantileExact');
  for (let round = -2; round < ROUNDS; round++) {
    for (const [name, way] of Object.entries(ways)) {
      const beganMs = performance.now();
      const { p99, requests } = await way();
      if (round >= 0) took.get(name)?.push(performance.now() - beganMs);
      const expected = exact.requests * (way === rollups ? DAYS : 1);
      const isNear = Math.abs(p99 / exact.p99 - 1) < (name.includes('sample') ? 0.1 : 0.01);
      if (requests !== expected || !isNear)
        throw new Error(`${name}: p99 ${p99} of ${requests}, not ${exact.p99} of ${expected}`);
    }
  }
  const seriesCount = MODELS * SERIES_PER_MODEL;
  say(
    `p99 of one model (${SERIES_PER_MODEL} of ${seriesCount} series) over ${DAYS} days, ` +
      `${(exact.requests * DAYS).toLocaleString('en')} requests; median of ${ROUNDS} (least to most)`,
  );
  const medians = [...took.values()].map((all) => {
    all.sort((a, b) => a - b);
    return all[Math.floor(all.length / 2)] as number;
  });
  const [ours = Number.NaN] = medians;
  for (const [n, [name, all]] of [...took].entries()) {
    const median = medians[n] as number;
    const spread = `(${all[0]?.toFixed(0)}–${all.at(-1)?.toFixed(0)} ms)`;
    const times = ((median * DAYS) / ours).toFixed(0);
    const scaled = n === 0 ? '' : `; times ${DAYS}: ${times} times as long as the windows`;
    say(`  ${name}: ${median.toFixed(0)} ms ${spread}${scaled}`);
  }
}
