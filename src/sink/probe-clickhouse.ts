import { failedProbe, type ProbeFinding } from '../base/probe-finding.ts';
import type { Config } from '../config/schema.ts';
import { clickHouseError, errorCodeOf, openClickHouse } from './client/clickhouse.ts';
import { pinDeduplication } from './client/insert-settings.ts';
import { readRows, rowsOf } from './client/read-query.ts';
import { findServer } from './guard/one-server.ts';
import { CONNECTIONS_AT_START } from './guard/store-guard.ts';
import { requireEngines } from './guard/table-engines.ts';
import { objectsOfSchema, readSchema } from './migrate/migrate.ts';
import { missingObjects, schemaIncomplete } from './migrate/schema-objects.ts';

/** Tables that each role writes to. */
const writtenTables = {
  ingest: ['chunk_rows', 'flushes', 'leases'],
  detect: [
    'anomalies',
    'deliveries',
    'receivers',
    'baselines',
    'detector_progress',
    'detector_state',
    'detector_snapshots',
  ],
  serve: [],
} as const;

/**
 * Probes that ClickHouse responds, accepts the login, has this version's tables, and lets some roles write:
 * one finding each.
 *
 * @param roles whose writes are tried.
 */
export async function probeClickHouse(
  config: Config,
  roles: readonly (keyof typeof writtenTables)[] = [],
): Promise<ProbeFinding[]> {
  const { clickhouse } = config;
  const server = openClickHouse(clickhouse, { useDatabase: false });
  try {
    const query = 'SELECT version() AS version';
    const version = (await rowsOf<{ version: string }>(server, query))[0]?.version ?? '';
    const findings: ProbeFinding[] = [
      { ok: true, what: 'ClickHouse', detail: `${version} at ${clickhouse.url}` },
    ];
    const schema = await probeSchema(clickhouse);
    findings.push(schema);
    if (!schema.ok) return findings;
    findings.push(await probeServer(clickhouse));
    findings.push(await probeDeduplication(clickhouse, roles.includes('ingest')));
    const tables = roles.flatMap((role) => writtenTables[role]);
    if (tables.length > 0) findings.push(await probeWrites(clickhouse, tables));
    findings.push(await probeSeries(config));
    return findings;
  } catch (error) {
    return [failedProbe('ClickHouse', clickHouseError(error, 'reach ClickHouse', clickhouse))];
  } finally {
    await server.close();
  }
}

/** Checks that there is one server behind the URL. */
async function probeServer(config: Config['clickhouse']): Promise<ProbeFinding> {
  const what = 'server behind clickhouse.url';
  try {
    await findServer(config, CONNECTIONS_AT_START);
    return { ok: true, what, detail: 'always the same' };
  } catch (error) {
    return failedProbe(what, clickHouseError(error, 'examine the server', config));
  }
}

/** Checks that the same token is stored once, whatever the user's profile says. */
async function probeDeduplication(
  config: Config['clickhouse'],
  isIngester: boolean,
): Promise<ProbeFinding> {
  const what = 'deduplication of inserts';
  const client = openClickHouse(config);
  try {
    const { overridden } = await pinDeduplication(client);
    const detail = 'on with each insert';
    if (overridden.length === 0) return { ok: true, what, detail };
    const profile = `the profile of ${config.username} has ${overridden.join(', ')}`;
    return { ok: true, what, detail: `${detail}; ${profile}, which each insert overrides` };
  } catch (error) {
    const failed = failedProbe(what, clickHouseError(error, 'read settings', config));
    // Only an ingester's user has to store chunks.
    return isIngester ? failed : { ...failed, ok: true, isWarning: true };
  } finally {
    await client.close();
  }
}

/** ClickHouse: ACCESS_DENIED. */
const accessDenied = '497';

/** Checks that the detector's limit covers every series with requests. */
async function probeSeries({ clickhouse, detect }: Config): Promise<ProbeFinding> {
  const what = 'series';
  const client = openClickHouse(clickhouse);
  try {
    const [row] = await readRows<{ series: string }>(client, 'recent_series');
    return seriesFinding(Number(row?.series ?? 0), detect.max_series);
  } catch (error) {
    // A user for ingest alone may not read windows: see sql/users.sql.
    if (errorCodeOf(error) === accessDenied) {
      return { ok: true, what, detail: 'not counted: this user may not read latency_10s' };
    }
    return failedProbe(what, clickHouseError(error, 'count series', clickhouse));
  } finally {
    await client.close();
  }
}

/** @param series number with requests in the last ten minutes. */
export function seriesFinding(series: number, limit: number): ProbeFinding {
  const counted = `${series} with requests in the last 10 min`;
  if (series <= limit) {
    return { ok: true, what: 'series', detail: `${counted}, limit ${limit}` };
  }
  return {
    ...{ ok: true, isWarning: true, what: 'series' },
    detail: `${counted}; only the ${limit} with the most requests are evaluated`,
    hint: 'Use fewer dimensions, or raise detect.max_series: each takes some 0.9 MB.',
  };
}

/** Inserts no rows into each table: that needs the right, and leaves nothing. */
async function probeWrites(
  config: Config['clickhouse'],
  tables: readonly string[],
): Promise<ProbeFinding> {
  const what = 'ClickHouse writes';
  const client = openClickHouse(config);
  try {
    for (const table of tables) {
      await client.command({
        query: 'INSERT INTO {table:Identifier} FORMAT JSONEachRow',
        query_params: { table },
      });
    }
    return { ok: true, what, detail: tables.join(', ') };
  } catch (error) {
    return failedProbe(what, clickHouseError(error, 'write', config));
  } finally {
    await client.close();
  }
}

async function probeSchema(config: Config['clickhouse']): Promise<ProbeFinding> {
  const what = `database ${config.database}`;
  const client = openClickHouse(config);
  try {
    const { missing: pending, newer } = await readSchema(client, config);
    if (newer !== undefined) return failedProbe(what, newer);
    if (pending.length > 0) {
      return {
        ok: false,
        what,
        detail: `${pending.length} migration(s) not applied: ${pending.join(', ')}`,
        hint: 'Run `tailmark migrate`.',
      };
    }
    const dropped = await missingObjects(client, objectsOfSchema());
    if (dropped.length > 0) {
      return failedProbe(what, schemaIncomplete('use this database', config.database, dropped));
    }
    await requireEngines(client);
    const tables = await readRows<{ table_name: string; tokens_kept: string | number }>(
      client,
      'short_token_windows',
    );
    const forgetful = tables.map(({ table_name, tokens_kept }) => `${table_name} (${tokens_kept})`);
    if (forgetful.length === 0) return { ok: true, what, detail: 'every migration is applied' };
    return {
      ok: false,
      what,
      detail: `has too few deduplication tokens to drop a chunk that is sent again: ${forgetful.join(', ')}`,
      hint: 'ALTER TABLE … MODIFY SETTING non_replicated_deduplication_window = 100000 on each.',
    };
  } catch (error) {
    return failedProbe(what, clickHouseError(error, 'read the schema', config));
  } finally {
    await client.close();
  }
}
