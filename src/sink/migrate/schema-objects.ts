import { type Clock, systemClock } from '../../base/clock.ts';
import { OperatorError } from '../../base/operator-error.ts';
import { type ClickHouseClient, errorCodeOf } from '../client/clickhouse.ts';
import { readRows, rowsOf } from '../client/read-query.ts';

/** A table or view that migrations make. */
export interface SchemaObject {
  readonly name: string;
  readonly kind: 'table' | 'view' | 'materialized view';
  /** The table whose inserts a materialized view passes on; undefined for others. */
  readonly source: string | undefined;
  /** A table that keeps rows: created again, it has lost them. */
  readonly keepsRows: boolean;
  /** The statements that make it, in order: its last CREATE and what changed it since. */
  readonly statements: readonly string[];
}

/**
 * Tables and views that stand after all statements, in an order in which they can be created. Knows CREATE,
 * DROP and ALTER TABLE, one object a statement; others change no schema. Pure.
 */
export function schemaObjects(statements: readonly string[]): SchemaObject[] {
  const objects = new Map<string, SchemaObject>();
  for (const statement of statements) {
    const text = statement.replace(/^(\s*--[^\n]*\n)+/, '').trim();
    const [, replaces, kind, redefines, name = ''] = CREATE.exec(text) ?? [];
    const dropped = /^DROP (?:TABLE|VIEW) (?:IF EXISTS )?(\w+)/.exec(text)?.[1];
    const altered = objects.get(/^ALTER TABLE (\w+)/.exec(text)?.[1] ?? '');
    if (dropped !== undefined) objects.delete(dropped);
    if (altered !== undefined) {
      objects.set(altered.name, { ...altered, statements: [...altered.statements, statement] });
    }
    // IF NOT EXISTS says how a table that is there would be created now. Without it CREATE changes nothing of it.
    const isLatest = replaces !== undefined || redefines !== undefined || !objects.has(name);
    if (kind === undefined || !isLatest) continue;
    const isFill = kind === 'MATERIALIZED VIEW';
    objects.set(name, {
      name,
      kind: kind.toLowerCase() as SchemaObject['kind'],
      source: isFill ? /\nFROM (\w+)/.exec(text)?.[1] : undefined,
      keepsRows: kind === 'TABLE' && !/\nENGINE = Null\b/.test(text),
      statements: [statement],
    });
  }
  return [...objects.values()];
}

const CREATE = /^CREATE (OR REPLACE )?(TABLE|VIEW|MATERIALIZED VIEW) (IF NOT EXISTS )?(\w+)/;

/** Names of objects, as `table exemplars, view exemplars_fill`. */
export function namesOf(objects: readonly Pick<SchemaObject, 'kind' | 'name'>[]): string {
  const names = objects.map(({ kind, name }) => `${kind === 'table' ? kind : 'view'} ${name}`);
  const shown = names.slice(0, MOST_NAMED);
  const more = names.length - shown.length;
  return more === 0 ? shown.join(', ') : `${shown.join(', ')} and ${more} more`;
}

const MOST_NAMED = 6;

/** @param doing completes "Cannot …". */
export function schemaIncomplete(
  doing: string,
  database: string,
  missing: readonly SchemaObject[],
): OperatorError {
  return new OperatorError(
    'TAILMARK_SCHEMA_MISSING',
    `Cannot ${doing} as database ${database} must have every table and view that its migrations made: it lacks ${namesOf(missing)}`,
    { hint: recreateHint },
  );
}

/** Advice for objects that somebody dropped. */
const recreateHint =
  'Run `tailmark migrate`: it creates them again, without the rows that they held.';

/** Looks while something is missing: a server that starts may not have all tables yet. */
const LOOKS = 3;
const BETWEEN_LOOKS_MS = 1_000;

/** Objects that the database lacks, in three looks within two seconds. */
export async function missingObjects(
  client: ClickHouseClient,
  objects: readonly SchemaObject[],
  { sleep }: Pick<Clock, 'sleep'> = systemClock,
): Promise<SchemaObject[]> {
  for (let look = 1; ; look++) {
    const missing = await missingNow(client, objects);
    if (missing.length === 0 || look === LOOKS) return missing;
    await sleep(BETWEEN_LOOKS_MS);
  }
}

/**
 * Objects that the database lacks at this moment. Objects that the user may not see are not among them;
 * whoever may insert into a table sees the views that pass on its rows.
 */
export async function missingNow(
  client: ClickHouseClient,
  objects: readonly SchemaObject[],
): Promise<SchemaObject[]> {
  type Row = { table_name: string; views: string[] };
  const rows = await readRows<Row>(client, 'existing_tables');
  const seen = new Map(rows.map(({ table_name, views }) => [table_name, views]));
  const missing: SchemaObject[] = [];
  for (const object of objects) {
    const views = object.source === undefined ? undefined : seen.get(object.source);
    if (views === undefined ? seen.has(object.name) : views.includes(object.name)) continue;
    // A view that exists and gets no rows is missing as well.
    if (views !== undefined || (await isKnownAbsent(client, object.name))) missing.push(object);
  }
  return missing;
}

/** ClickHouse: ACCESS_DENIED. */
const accessDenied = '497';

async function isKnownAbsent(client: ClickHouseClient, name: string): Promise<boolean> {
  try {
    const query = 'EXISTS TABLE {name:Identifier}';
    const [row] = await rowsOf<{ result: number }>(client, query, { name });
    return Number(row?.result) === 0;
  } catch (error) {
    if (errorCodeOf(error) === accessDenied) return false;
    throw error;
  }
}
