import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { ClickHouseClient } from '@clickhouse/client';
import { systemClock } from '../../base/clock.ts';
import { OperatorError } from '../../base/operator-error.ts';
import type { Config } from '../../config/schema.ts';
import { clickHouseError, isMissing, openClickHouse } from '../client/clickhouse.ts';
import { addedSettings } from '../client/insert-settings.ts';
import { rowsOf } from '../client/read-query.ts';
import { Lease, requireNoLease } from './lease.ts';
import {
  missingObjects,
  namesOf,
  type SchemaObject,
  schemaIncomplete,
  schemaObjects,
} from './schema-objects.ts';

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
  /** Objects that somebody had dropped and that were created again: without their rows. */
  readonly recreated: readonly Pick<SchemaObject, 'name' | 'kind' | 'keepsRows'>[];
  /** Tables whose retention was changed to the configured one. */
  readonly retentionChanged: readonly string[];
}

const sqlFolder = new URL('../../../sql/', import.meta.url);

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
 * Migrates the database to this version: creates it, creates again what was dropped by hand, applies missing
 * migrations in order, sets the configured retention. Safe to repeat. Concurrent runs are safe on one server
 * only.
 *
 * @throws OperatorError if the server cannot be reached, an applied file has changed since, the schema is
 *   newer, or there is something to create while ingesters run.
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
      const steps = await applyMissing(client, config);
      const retentionChanged = await setRetention(client, config);
      return { database: config.database, ...steps, retentionChanged };
    } finally {
      await client.close();
    }
  } catch (error) {
    throw clickHouseError(error, 'migrate the database', config);
  }
}

/** The schema of a database, against the migrations of this version. */
export interface SchemaState {
  /** Names of missing migrations; all of them for an empty database. */
  readonly missing: readonly string[];
  /** An error when the database has migrations that this version lacks. */
  readonly newer: OperatorError | undefined;
}

export async function readSchema(
  client: ClickHouseClient,
  config: Config['clickhouse'],
): Promise<SchemaState> {
  return compareSchema(await recordedMigrations(client), readMigrations(), config.database);
}

/** @param recorded checksums by name; '' of one that was begun and not finished. */
export function compareSchema(
  recorded: ReadonlyMap<string, string>,
  known: readonly Pick<Migration, 'name'>[],
  database: string,
): SchemaState {
  const names = known.map(({ name }) => name);
  const missing = names.filter((name) => (recorded.get(name) ?? '') === '');
  const unknown = [...recorded.keys()].filter((name) => !names.includes(name)).sort();
  if (unknown.length === 0) return { missing, newer: undefined };
  const message = `Cannot use database ${database} as its schema must not be newer than this version of tailmark: it has migration ${unknown.at(-1)}, and the last one known here is ${names.at(-1)}`;
  const hint =
    'Run the version of tailmark that migrated the database, or a newer one. docs/how-to/upgrade.md ' +
    'says how to go back.';
  return { missing, newer: new OperatorError('TAILMARK_SCHEMA_NEWER', message, { hint }) };
}

/** Tables and views that all migrations of this version make. */
export function objectsOfSchema(): SchemaObject[] {
  return schemaObjects([recordTable, ...readMigrations().flatMap(({ statements }) => statements)]);
}

/** @throws OperatorError when ClickHouse cannot be reached, lacks tables of this version, or has newer ones. */
export async function requireSchema(
  client: ClickHouseClient,
  config: Config['clickhouse'],
): Promise<void> {
  let schema: SchemaState;
  let dropped: SchemaObject[] = [];
  try {
    schema = await readSchema(client, config);
    if (schema.missing.length === 0) dropped = await missingObjects(client, objectsOfSchema());
  } catch (error) {
    throw clickHouseError(error, 'read the schema', config);
  }
  const { missing, newer } = schema;
  if (newer !== undefined) throw newer;
  if (dropped.length > 0) throw schemaIncomplete('run', config.database, dropped);
  if (missing.length === 0) return;
  throw new OperatorError(
    'TAILMARK_SCHEMA_MISSING',
    `Cannot run as database ${config.database} must have every migration: it lacks ${missing.join(', ')}`,
    { hint: 'Run `tailmark migrate`.' },
  );
}

/** The record of what was applied. */
const recordTable = `CREATE TABLE IF NOT EXISTS schema_migrations
(name String, checksum String, applied_at DateTime('UTC') DEFAULT now())
ENGINE = MergeTree ORDER BY name`;

async function applyMissing(client: ClickHouseClient, config: Config['clickhouse']) {
  await client.command({ query: recordTable });
  const recorded = await recordedMigrations(client);
  const all = readMigrations();
  const { missing: applied, newer } = compareSchema(recorded, all, config.database);
  if (newer !== undefined) throw newer;
  const present = all.map(({ name }) => name).filter((name) => !applied.includes(name));
  for (const { name, checksum } of all) {
    if (applied.includes(name) || checksum === recorded.get(name)) continue;
    throw new OperatorError(
      'TAILMARK_SCHEMA_CHANGED',
      `Cannot migrate as an applied migration must not change: sql/${name}.sql differs from what was applied`,
      { hint: 'Restore the file and put the change into a new, higher-numbered one.' },
    );
  }
  if (recorded.size === 0) await requireNew(client, config, all);
  const missing = all.filter(({ name }) => applied.includes(name));
  // A migration that was interrupted may have dropped what it creates at its end.
  const isInterrupted = missing.some(({ name }) => recorded.has(name));
  const earlier = isInterrupted ? [] : all.filter(({ name }) => present.includes(name));
  const recreated = await recreate(client, config, earlier);
  if (missing.length > 0) await alone(client, config, () => applyAll(client, missing));
  if (isInterrupted) recreated.push(...(await recreate(client, config, all)));
  return { applied, present, recreated };
}

/**
 * Without a record, migrations would change tables that they have changed before.
 *
 * @throws OperatorError where the database has tables, and the record of its migrations is gone.
 */
async function requireNew(
  client: ClickHouseClient,
  { database }: Config['clickhouse'],
  all: readonly Migration[],
): Promise<void> {
  if (!(await hasTable(client, 'flushes'))) return;
  const values = all.map(({ name, checksum }) => `('${name}', '${checksum}')`).join(', ');
  throw new OperatorError(
    'TAILMARK_SCHEMA_MISSING',
    `Cannot migrate as database ${database} must have a record of its migrations: it has tables, and schema_migrations is empty`,
    {
      hint: `Restore that table from a backup. If this version was the last one to migrate: INSERT INTO ${database}.schema_migrations (name, checksum) VALUES ${values}`,
    },
  );
}

async function hasTable(client: ClickHouseClient, name: string): Promise<boolean> {
  const query = 'EXISTS TABLE {name:Identifier}';
  const [row] = await rowsOf<{ result: number }>(client, query, { name });
  return Number(row?.result) === 1;
}

/**
 * Creates what applied migrations made and the database lacks, as empty as they did: by the same statements,
 * from the last CREATE of each on.
 *
 * @throws OperatorError while ingesters run, or where something cannot be created.
 */
async function recreate(
  client: ClickHouseClient,
  config: Config['clickhouse'],
  applied: readonly Migration[],
): Promise<MigrationReport['recreated'][number][]> {
  const objects = schemaObjects(applied.flatMap(({ statements }) => statements));
  const missing = await missingObjects(client, objects);
  if (missing.length === 0) return [];
  const create = async (some: readonly SchemaObject[]) => {
    const statements = some.flatMap((object) => object.statements);
    for (const statement of statements) await client.command({ query: idempotent(statement) });
  };
  // Without that table no ingester can be kept away, nor store for long.
  await create(missing.filter(({ name }) => name === 'leases'));
  await alone(client, config, () => create(missing));
  const still = await missingObjects(client, objects);
  if (still.length === 0) {
    return missing.map(({ name, kind, keepsRows }) => ({ name, kind, keepsRows }));
  }
  throw new OperatorError(
    'TAILMARK_SCHEMA_MISSING',
    `Cannot migrate as database ${config.database} must have every table and view that its migrations made: it lacks ${namesOf(still)}, also after they were created`,
    {
      hint: 'A view that exists and gets no rows: DROP VIEW … SYNC, and run `tailmark migrate` again.',
    },
  );
}

async function applyAll(client: ClickHouseClient, missing: readonly Migration[]): Promise<void> {
  // First, so that no older version starts from here on, even if this one does not come to its end.
  await record(
    client,
    missing.map(({ name }) => ({ name, checksum: '' })),
  );
  for (const { name, checksum, statements } of missing) {
    for (const statement of statements) await client.command({ query: idempotent(statement) });
    await record(client, [{ name, checksum }]);
  }
}

async function record(
  client: ClickHouseClient,
  values: readonly Pick<Migration, 'name' | 'checksum'>[],
): Promise<void> {
  await client.insert({
    table: 'schema_migrations',
    format: 'JSONEachRow',
    values,
    clickhouse_settings: addedSettings(),
  });
}

/** Holds the lease of a migration during an action. @throws OperatorError while ingesters have theirs. */
async function alone(
  client: ClickHouseClient,
  { request_timeout }: Config['clickhouse'],
  action: () => Promise<void>,
): Promise<void> {
  // An empty database has no leases yet, and no ingester.
  if (!(await hasTable(client, 'leases'))) return action();
  const seconds = Math.ceil((RENEW_MS + request_timeout) / 1000) + 15;
  const lease = new Lease(client, 'migrate', `${hostname()}/${process.pid}`, seconds);
  await lease.renew();
  const stopRenewing = systemClock.every(RENEW_MS, () => void lease.renew().catch(() => undefined));
  try {
    await requireNoLease(client, 'ingest');
    await action();
  } finally {
    stopRenewing();
    await lease.release().catch(() => undefined);
  }
}

const RENEW_MS = 15_000;

/** Makes a statement repeatable, so that an interrupted migration can start again. */
function idempotent(statement: string): string {
  return statement.replace(
    /(^|\n)CREATE (TABLE|VIEW|MATERIALIZED VIEW) (?!IF NOT EXISTS)/,
    '$1CREATE $2 IF NOT EXISTS ',
  );
}

/** Checksums of recorded migrations; '' of one that was begun and not finished. */
async function recordedMigrations(client: ClickHouseClient): Promise<Map<string, string>> {
  try {
    const query =
      'SELECT name, max(m.checksum) AS checksum FROM schema_migrations AS m GROUP BY name';
    const rows = await rowsOf<{ name: string; checksum: string }>(client, query);
    return new Map(rows.map((row) => [row.name, row.checksum]));
  } catch (error) {
    if (isMissing(error)) return new Map();
    throw error;
  }
}

/** The column that each table's retention counts from. */
const retentionColumns: Readonly<Record<keyof Config['clickhouse']['retention'], string>> = {
  chunk_landings: 'inserted_at',
  latency_10s: 'window_start',
  latency_1m: 'window_start',
  latency_1h: 'window_start',
  latency_1d: 'window_start',
  drivers_1m: 'window_start',
  exemplars: 'window_start',
  anomalies: 'started_at',
  deliveries: 'at',
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
