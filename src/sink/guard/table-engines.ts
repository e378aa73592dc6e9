import { OperatorError } from '../../base/operator-error.ts';
import type { ClickHouseClient } from '../client/clickhouse.ts';
import { readRows } from '../client/read-query.ts';

export interface TableEngine {
  readonly table_name: string;
  readonly engine: string;
}

/** Engines that keep rows and deduplication tokens on the server that took them, and on no other. */
const supported = /^(Aggregating|Replacing)?MergeTree$/;

/** Tables whose engine does not store a chunk exactly once, as `flushes (ReplicatedMergeTree)`. */
export function unsupportedTables(tables: readonly TableEngine[]): string[] {
  return tables
    .filter(({ engine }) => !supported.test(engine))
    .map(({ table_name, engine }) => `${table_name} (${engine})`);
}

/** @throws OperatorError TAILMARK_CLICKHOUSE_UNSUPPORTED for replicated, shared or distributed tables. */
export async function requireEngines(client: ClickHouseClient): Promise<void> {
  const tables = unsupportedTables(await readRows<TableEngine>(client, 'table_engines'));
  if (tables.length === 0) return;
  throw new OperatorError(
    'TAILMARK_CLICKHOUSE_UNSUPPORTED',
    `Cannot store each chunk exactly once as its tables must be MergeTree tables of one server; some are not: ${tables.join(', ')}`,
    {
      hint:
        'Replicated, shared and distributed tables are not supported yet. Set clickhouse.database to one ' +
        'that `tailmark migrate` created on a single server.',
    },
  );
}
