import type { ClickHouseClient } from '@clickhouse/client';
import { OperatorError } from '../base/operator-error.ts';
import type { Config } from '../config/schema.ts';
import { clickHouseError } from './clickhouse.ts';
import { pendingMigrations } from './migrate.ts';

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
