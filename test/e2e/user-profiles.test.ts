import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OperatorError } from '../../src/base/operator-error.ts';
import { configSchema } from '../../src/config/schema.ts';
import {
  type ClickHouseServer,
  startClickHouse,
} from '../../src/local/clickhouse/clickhouse-server.ts';
import { AnomalyStore } from '../../src/sink/anomalies/anomaly-store.ts';
import type { Chunk } from '../../src/sink/chunks/chunk.ts';
import { ChunkBlock } from '../../src/sink/chunks/chunk-block.ts';
import { chunkParts } from '../../src/sink/chunks/chunk-parts.ts';
import { ClickHouseChunkStore } from '../../src/sink/chunks/chunk-store.ts';
import { encodeChunk } from '../../src/sink/chunks/encode-chunk.ts';
import { openClickHouse } from '../../src/sink/client/clickhouse.ts';
import { addedSettings } from '../../src/sink/client/insert-settings.ts';
import { rowsOf } from '../../src/sink/client/read-query.ts';
import { migrate } from '../../src/sink/migrate/migrate.ts';
import { probeClickHouse } from '../../src/sink/probe-clickhouse.ts';
import { rowBinaryOf } from '../../src/sink/row-binary/row-binary-of.ts';
import { readTails } from '../../src/sink/windows/read-tails.ts';
import { TestChunk } from '../window/test-chunk.ts';

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
  neverEver: { deduplicate_insert: 'disable' },
};
/** Users whose profiles say how often the same token is stored. The local server is ClickHouse 26.2 or later. */
const deduplicating: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  never: { deduplicate_insert: 'disable', deduplicate_insert_select: 'disable' },
  neverSelected: { deduplicate_insert_select: 'disable' },
  neverBefore: { compatibility: '25.8', insert_deduplicate: '0' },
};
const constraints: Readonly<Record<string, Readonly<Record<string, 'readonly'>>>> = {
  neverEver: { deduplicate_insert: 'readonly' },
};
const grants = ['GRANT ALL ON tailmark.*', 'GRANT SELECT ON system.*'];

let dir: string;
let server: ClickHouseServer | undefined;
let missing = '';

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'tailmark-profiles-'));
  const users = Object.entries({ ...profiles, ...refused, ...deduplicating }).map(
    ([name, settings]) => {
      return { name, password: '', grants, settings, constraints: constraints[name] ?? {} };
    },
  );
  try {
    const onProgress = () => undefined;
    server = await startClickHouse({ dataDir: dir, database: 'tailmark', users, onProgress });
    await migrate(configOf('default'));
    await insertAs('default', 'stored');
    const client = openClickHouse(configOf('default'));
    await client.command({
      query: `CREATE TABLE always_added (name String)
              ENGINE = MergeTree ORDER BY name SETTINGS non_replicated_deduplication_window = 100`,
    });
    await client.close();
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

function configInput(username: string) {
  return { url: server?.url ?? '', username, database: 'tailmark' };
}

function configOf(username: string) {
  return configSchema.parse({ clickhouse: configInput(username) }).clickhouse;
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

describe.each(['default', ...Object.keys(deduplicating)])('as %s', (user) => {
  it('the same token is stored once, in rows, ledger and filled parts', async () => {
    const client = openClickHouse(configOf(user));
    try {
      const store = new ClickHouseChunkStore(client, 'host/1');
      const chunk = chunkOf(user);
      const part = chunkParts(chunk.rows.days).find(({ table }) => table === 'latency_10s');
      if (part === undefined) throw new Error('a chunk has rows in latency_10s');
      for (const _ of [1, 2]) {
        await store.insert(chunk);
        await store.record(chunk, 0);
        await store.fill(chunk, part, 0);
      }
      const queries = [
        'SELECT count() AS n FROM chunk_landings WHERE group_id = {user:String}',
        "SELECT sum(requests) AS n FROM latency_1m WHERE model = {user:String} AND stage = 'total'",
        "SELECT sum(requests) AS n FROM latency_10s WHERE model = {user:String} AND stage = 'total'",
        'SELECT count() AS n FROM flushes WHERE group_id = {user:String}',
      ];
      const counts = await Promise.all(
        queries.map(async (query) => {
          return Number((await rowsOf<{ n: string }>(client, query, { user }))[0]?.n);
        }),
      );
      // A part that is filled has a token of its own, so it is there twice: stored, and filled once.
      expect(counts).toEqual([1, 3, 6, 1]);
    } finally {
      await client.close();
    }
  });

  it('a row that is always added is added each time', async () => {
    const client = openClickHouse(configOf(user));
    try {
      for (const _ of [1, 2]) {
        await client.insert({
          table: 'always_added',
          values: [{ name: user }],
          format: 'JSONEachRow',
          clickhouse_settings: addedSettings(),
        });
      }
      const query = 'SELECT count() AS n FROM always_added WHERE name = {user:String}';
      const [row] = await rowsOf<{ n: string }>(client, query, { user });
      expect(Number(row?.n)).toBe(2);
    } finally {
      await client.close();
    }
  });

  it('the check says what each insert overrides', async () => {
    const findings = await probeClickHouse(configSchema.parse({ clickhouse: configInput(user) }), [
      'ingest',
    ]);
    const { ok, detail } = findings.find(({ what }) => what === 'deduplication of inserts') ?? {};
    expect([ok, detail]).toEqual([true, details[user]]);
  });
});

it('the check of an ingester refuses a profile that turns deduplication off for good', async () => {
  const config = configSchema.parse({ clickhouse: configInput('neverEver') });
  const [finding] = (await probeClickHouse(config, ['ingest'])).filter(({ ok }) => !ok);
  expect(finding).toMatchObject({
    what: 'deduplication of inserts',
    detail:
      'Cannot store each chunk exactly once as setting deduplicate_insert of user neverEver must be ' +
      'enable: it is disable',
    error: { code: 'TAILMARK_CLICKHOUSE_SETTINGS' },
  });
});

const details: Readonly<Record<string, string>> = {
  default: 'on with each insert',
  never:
    'on with each insert; the profile of never has deduplicate_insert = disable, ' +
    'deduplicate_insert_select = disable, which each insert overrides',
  neverSelected:
    'on with each insert; the profile of neverSelected has deduplicate_insert_select = disable, ' +
    'which each insert overrides',
  neverBefore:
    'on with each insert; the profile of neverBefore has ' +
    'deduplicate_blocks_in_dependent_materialized_views = 0, insert_deduplicate = 0, which each ' +
    'insert overrides',
};

/** A chunk of three requests of a model. */
function chunkOf(model: string): Chunk {
  const open = new TestChunk({ facets: [] }).begin();
  const nowMs = range.fromMs;
  for (const ts of [0, 1, 2]) open.add({ ts: nowMs + ts, model, total_ms: 8, trace_id: 'a' });
  const origin = { groupId: model, topic: 't', partition: 0, logId: 'c/t', startOffset: 0 };
  const rows = encodeChunk(open.accumulator, { ...origin, nowMs }, new ChunkBlock());
  const times = { firstTimestampMs: nowMs, lastTimestampMs: nowMs, watermarkMs: nowMs };
  const counts = { records: 3, consumed: 3, aggregated: 3, rejected: 0, late: 0, overflow: 0 };
  const more = {
    unmapped: 0,
    weight: 0,
    lateMerged: 0,
    removedEvents: 0,
    removedOffsets: 0,
    leaderEpoch: 0,
    endOffset: 3,
  };
  return { ...origin, ...times, ...counts, ...more, rows };
}
