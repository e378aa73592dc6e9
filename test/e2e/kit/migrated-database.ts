import type { Config } from '../../../src/config/schema.ts';
import { type ClickHouseClient, openClickHouse } from '../../../src/sink/client/clickhouse.ts';
import { rowsOf } from '../../../src/sink/client/read-query.ts';
import { migrate } from '../../../src/sink/migrate/migrate.ts';
import { uniqueName } from '../../containers/unique-name.ts';

/** A migrated database, as the statements that create another one like it. */
interface Template {
  readonly database: string;
  readonly tables: readonly string[];
  /** They read tables. */
  readonly views: readonly string[];
}

/** By the server's URL. The files of a worker share them. */
const templates = new Map<string, Promise<Template>>();

/**
 * Creates a migrated database. The first one of a server runs all migrations: a second of CPU time. The
 * others are copies of their result: a tenth of it. Then `migrate` finds no more than the retention to set.
 */
export async function migratedDatabase(config: Config['clickhouse']): Promise<void> {
  const template = await templateOn(config);
  const client = openClickHouse(config, { useDatabase: false });
  try {
    await copy(client, template, config.database);
  } finally {
    await client.close();
  }
  await migrate(config);
}

function templateOn(config: Config['clickhouse']): Promise<Template> {
  const known = templates.get(config.url) ?? makeTemplate(config);
  templates.set(config.url, known);
  return known;
}

async function makeTemplate(config: Config['clickhouse']): Promise<Template> {
  const database = uniqueName('template');
  await migrate({ ...config, database });
  const client = openClickHouse({ ...config, database });
  try {
    const objects = await rowsOf<{ engine: string; query: string }>(
      client,
      `SELECT engine, create_table_query AS query FROM system.tables WHERE database = {database:String}`,
      { database },
    );
    const queriesOf = (areViews: boolean) =>
      objects.filter(({ engine }) => engine.endsWith('View') === areViews).map((o) => o.query);
    return { database, tables: queriesOf(false), views: queriesOf(true) };
  } finally {
    await client.close();
  }
}

async function copy(client: ClickHouseClient, from: Template, to: string): Promise<void> {
  const create = (queries: readonly string[]) =>
    Promise.all(
      queries.map((query) =>
        client.command({ query: query.replaceAll(`${from.database}.`, `${to}.`) }),
      ),
    );
  await client.command({
    query: 'CREATE DATABASE IF NOT EXISTS {to:Identifier}',
    query_params: { to },
  });
  await create(from.tables);
  await create(from.views);
  await client.command({
    query: `INSERT INTO {to:Identifier}.schema_migrations SELECT * FROM {from:Identifier}.schema_migrations`,
    query_params: { to, from: from.database },
  });
}
