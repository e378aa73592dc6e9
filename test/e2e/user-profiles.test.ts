import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { OperatorError } from '../../src/base/operator-error.ts';
import { configSchema } from '../../src/config/schema.ts';
import {
  type ClickHouseServer,
  startClickHouse,
} from '../../src/local/clickhouse/clickhouse-server.ts';
import { AnomalyStore } from '../../src/sink/anomalies/anomaly-store.ts';
import { openClickHouse } from '../../src/sink/clickhouse.ts';
import { migrate } from '../../src/sink/migrate.ts';
import { rowsOf } from '../../src/sink/read-query.ts';
import { readTails } from '../../src/sink/read-tails.ts';
import { rowBinaryOf } from '../../src/sink/row-binary/row-binary-of.ts';

/** Profiles as administrators set them, by user. */
const profiles: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  readonly1: { readonly: '1' },
  readonly2: { readonly: '2' },
  alias: { prefer_column_name_to_alias: '1' },
  nulls: { join_use_nulls: '1', group_by_use_nulls: '1', aggregate_functions_null_for_empty: '1' },
  zone: { session_timezone: 'America/New_York', date_time_output_format: 'unix_timestamp' },
  old: { compatibility: '24.2', enable_analyzer: '0' },
  cut: { limit: '1', offset: '1' },
  final: { final: '1', use_query_cache: '1', output_format_json_quote_64bit_integers: '1' },
};
/** Users of readonly = 1 whose profile changes what queries mean. */
const refused: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  fixed: { readonly: '1', join_use_nulls: '1' },
};
const grants = ['GRANT ALL ON tailmark.*', 'GRANT SELECT ON system.*'];

let dir: string;
let server: ClickHouseServer | undefined;
let missing = '';

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'tailmark-profiles-'));
  const users = Object.entries({ ...profiles, ...refused }).map(([name, settings]) => {
    return { name, password: '', grants, settings };
  });
  try {
    const onProgress = () => undefined;
    server = await startClickHouse({ dataDir: dir, database: 'tailmark', users, onProgress });
    await migrate(configOf('default'));
    await insertAs('default', 'stored');
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    if (error.code !== 'TAILMARK_LOCAL_ENGINE_MISSING') throw error;
    missing = error.message;
  }
});
afterAll(async () => {
  await server?.stop();
  rmSync(dir, { recursive: true, force: true });
});
beforeEach((context) => context.skip(missing !== '', missing));

function configOf(username: string) {
  const url = server?.url ?? '';
  return configSchema.parse({ clickhouse: { url, username, database: 'tailmark' } }).clickhouse;
}

// Recent: the tables keep 10-second windows for a week.
const fromSeconds = Math.floor(Date.now() / 60_000) * 60 - 3_600;
const range = { fromMs: fromSeconds * 1000, toMs: (fromSeconds + 60) * 1000 } as const;

/** Stores 50 requests of 1 to 50 ms in five windows of a minute: by the views, one row a minute. */
async function insertAs(user: string, model: string): Promise<void> {
  const client = openClickHouse(configOf(user));
  try {
    await client.command({
      query: `
        INSERT INTO chunk_rows
            (kind, window_start, model, stage, requests, sum_ms, min_ms, max_ms, latency, group_id, topic)
        SELECT
            'stage', toDateTime({fromSeconds:UInt32} + 10 * intDiv(number, 10), 'UTC'), {model:String},
            'total', 1, number + 1, number + 1, number + 1,
            arrayReduce('quantilesTDigestState(0.5, 0.9, 0.95, 0.99, 0.999)', [toFloat32(number + 1)]),
            'g', 't'
        FROM numbers(50)`,
      query_params: { fromSeconds, model },
    });
  } finally {
    await client.close();
  }
}

async function readAs(user: string, model: string) {
  const client = openClickHouse(configOf(user));
  const filters = { stage: '', version: '', region: '', requestType: '', coldStart: '' } as const;
  const params = { windowSeconds: 60, fromSeconds, toSeconds: fromSeconds + 60 };
  try {
    return {
      tails: await readTails(client, { ...range, ...filters, model }, '10s'),
      rows: await rowsOf(client, 'SELECT 1 AS a UNION ALL SELECT 1'),
      anomalies: await new AnomalyStore(client).since(0, { model: '', state: '', limit: 10 }),
      windows: (await rowBinaryOf(client, 'series_windows', params)).length,
    };
  } finally {
    await client.close();
  }
}

it.each(Object.keys(profiles))('%s reads what the default user reads', async (user) => {
  const read = await readAs(user, 'stored');
  expect(read).toEqual(await readAs('default', 'stored'));
  expect(read.tails).toMatchObject([{ requests: 50, mean_ms: 25.5, p50_ms: 25, max_ms: 50 }]);
});

it('a profile that changes queries and may not be changed is refused by name', async () => {
  await expect(readAs('fixed', 'stored')).rejects.toMatchObject({
    code: 'TAILMARK_CLICKHOUSE_SETTINGS',
    message:
      'Cannot read from ClickHouse as setting join_use_nulls of user fixed must be 0: it is 1',
  });
});

it('what users of such profiles store is rolled up like that of others', async () => {
  for (const user of ['alias', 'nulls', 'zone', 'old', 'final']) {
    await insertAs(user, user);
    const client = openClickHouse(configOf('default'));
    const tables = ['latency_10s', 'latency_1m', 'latency_1h', 'latency_1d'];
    const found = await Promise.all(
      tables.map((table) =>
        rowsOf<{ n: string; windows: string; ms: number }>(
          client,
          `SELECT sum(requests) AS n, uniqExact(window_start) AS windows, sum(sum_ms) AS ms
           FROM {table:Identifier} WHERE model = {model:String}`,
          { table, model: user },
        ),
      ),
    );
    await client.close();
    expect([user, ...found.flat().map((row) => [row.n, row.windows, row.ms].map(Number))]).toEqual([
      user,
      [50, 5, 1_275],
      [50, 1, 1_275],
      [50, 1, 1_275],
      [50, 1, 1_275],
    ]);
  }
});
