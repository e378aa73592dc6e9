import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { ClickHouseClient } from '@clickhouse/client';
import { OperatorError } from '../base/operator-error.ts';
import type { Config } from '../config/schema.ts';
import { clickHouseError, isMissing, openClickHouse } from './clickhouse.ts';
import { rowsOf } from './read-query.ts';

export interface Migration {
  /** `0001_latency`. */
  readonly name: string;
  readonly checksum: string;
  readonly statements: readonly string[];
}

export interface MigrationReport {
  readonly database: string;
  readonly applied: readonly string[];
  readonly present: readonly string[];
  /** Tables whose retention was changed to the configured one. */
  readonly retentionChanged: readonly string[];
}

const sqlFolder = new URL('../../sql/', import.meta.url);

/** The migrations of this version, in order. */
export function readMigrations(folder: URL = sqlFolder): Migration[] {
  return readdirSync(folder)
    .filter((file) => /^\d{4}_[a-z0-9_]+\.sql$/.test(file))
    .sort()
    .map((file) => {
      const text = readFileSync(new URL(file, folder), 'utf8');
      return {
        name: file.slice(0, -'.sql'.length),
        checksum: createHash('sha256').update(text).digest('hex'),
        statements: statementsOf(text),
      };
    });
}

/** Splits an SQL file into statements, which end with a semicolon at the end of a line. */
export function statementsOf(text: string): string[] {
  return text
    .split(/;[ \t]*(?:\n|$)/)
    .map((statement) => statement.trim())
    .filter((statement) => statement.replace(/--[^\n]*(\n|$)/g, '').trim() !== '');
}

/**
 * Migrates the database to this version: creates it, applies missing migrations in order, sets the configured
 * retention. Safe to repeat. Concurrent runs are safe on one server only.
 *
 * @throws OperatorError if the server cannot be reached, or an applied file has changed since.
 */
export async function migrate(config: Config['clickhouse']): Promise<MigrationReport> {
  try {
    const server = openClickHouse(config, { useDatabase: false });
    try {
      await server.command({
        query: 'CREATE DATABASE IF NOT EXISTS {database:Identifier}',
        query_params: { database: config.database },
      });
    } finally {
      await server.close();
    }
    const client = openClickHouse(config);
    try {
      const steps = await applyMissing(client);
      const retentionChanged = await setRetention(client, config);
      return { database: config.database, ...steps, retentionChanged };
    } finally {
      await client.close();
    }
  } catch (error) {
    throw clickHouseError(error, 'migrate the database', config);
  }
}

/** Names of the missing migrations; all of them for an empty database. */
export async function pendingMigrations(client: ClickHouseClient): Promise<string[]> {
  const known = await appliedMigrations(client);
  return readMigrations()
    .filter((migration) => !known.has(migration.name))
    .map((migration) => migration.name);
}

/** @throws OperatorError when ClickHouse cannot be reached or lacks this version's tables. */
export async function requireSchema(
  client: ClickHouseClient,
  config: Config['clickhouse'],
): Promise<void> {
  let pending: string[];
  try {
    pending = await pendingMigrations(client);
  } catch (error) {
    throw clickHouseError(error, 'read the schema', config);
  }
  if (pending.length === 0) return;
  throw new OperatorError(
    'TAILMARK_SCHEMA_MISSING',
    `Cannot run as database ${config.database} must have every migration: it lacks ${pending.join(', ')}`,
    { hint: 'Run `tailmark migrate`.' },
  );
}

async function applyMissing(client: ClickHouseClient) {
  await client.command({
    query: `CREATE TABLE IF NOT EXISTS schema_migrations
            (name String, checksum String, applied_at DateTime('UTC') DEFAULT now())
            ENGINE = MergeTree ORDER BY name`,
  });
  const known = await appliedMigrations(client);
  const applied: string[] = [];
  const present: string[] = [];
  for (const migration of readMigrations()) {
    const checksum = known.get(migration.name);
    if (checksum === migration.checksum) {
      present.push(migration.name);
      continue;
    }
    if (checksum !== undefined) {
      throw new OperatorError(
        'TAILMARK_SCHEMA_CHANGED',
        `Cannot migrate as an applied migration must not change: sql/${migration.name}.sql differs from what was applied`,
        { hint: 'Restore the file and put the change into a new, higher-numbered one.' },
      );
    }
    for (const statement of migration.statements) {
      await client.command({ query: idempotent(statement) });
    }
    await client.insert({
      table: 'schema_migrations',
      format: 'JSONEachRow',
      values: [{ name: migration.name, checksum: migration.checksum }],
      clickhouse_settings: { async_insert: 0 },
    });
    applied.push(migration.name);
  }
  return { applied, present };
}

/** Makes a statement repeatable, so that an interrupted migration can start again. */
function idempotent(statement: string): string {
  return statement.replace(
    /(^|\n)CREATE (TABLE|VIEW|MATERIALIZED VIEW) (?!IF NOT EXISTS)/,
    '$1CREATE $2 IF NOT EXISTS ',
  );
}

async function appliedMigrations(client: ClickHouseClient): Promise<Map<string, string>> {
  try {
    const query = 'SELECT name, checksum FROM schema_migrations';
    const rows = await rowsOf<{ name: string; checksum: string }>(client, query);
    return new Map(rows.map((row) => [row.name, row.checksum]));
  } catch (error) {
    if (isMissing(error)) return new Map();
    throw error;
  }
}

/** The column that each table's retention counts from. */
const retentionColumns: Readonly<Record<keyof Config['clickhouse']['retention'], string>> = {
  chunk_rows: 'inserted_at',
  latency_10s: 'window_start',
  latency_1m: 'window_start',
  latency_1h: 'window_start',
  latency_1d: 'window_start',
  drivers_1m: 'window_start',
  exemplars: 'window_start',
  anomalies: 'started_at',
  baselines: 'written_at',
  flushes: 'flushed_at',
};

async function setRetention(
  client: ClickHouseClient,
  config: Config['clickhouse'],
): Promise<string[]> {
  const tables = await rowsOf<{ name: string; definition: string }>(
    client,
    `SELECT name, create_table_query AS definition FROM system.tables
     WHERE database = currentDatabase()`,
  );
  const changed: string[] = [];
  for (const [table, ms] of Object.entries(config.retention)) {
    const seconds = Math.round(ms / 1000);
    const column = retentionColumns[table as keyof typeof retentionColumns];
    const { definition = '' } = tables.find(({ name }) => name === table) ?? {};
    const inForce = /TTL [^\n]*?toIntervalSecond\((?:_CAST\()?(\d+)/.exec(definition);
    if (inForce !== null && Number(inForce[1]) === seconds) continue;
    await client.command({
      query: `ALTER TABLE {table:Identifier}
              MODIFY TTL toDateTime({column:Identifier}) + toIntervalSecond({seconds:UInt64})`,
      query_params: { table, column, seconds },
      // Expired rows are removed by later merges, not by rewriting the table now.
      clickhouse_settings: { materialize_ttl_after_modify: 0 },
    });
    changed.push(table);
  }
  return changed;
}
