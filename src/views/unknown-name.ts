import type { ClickHouseClient } from '../sink/clickhouse.ts';
import { readRows } from '../sink/read-query.ts';

/** A question about something that is not stored. */
export class UnknownName extends Error {}

/**
 * Tells a model without requests in a range from one that has never had any.
 *
 * @throws UnknownName
 */
export async function requireModel(client: ClickHouseClient, model: string): Promise<void> {
  const rows = await readRows(client, 'known_model', { model });
  if (rows.length === 0) {
    throw new UnknownName(`No request of model ${JSON.stringify(model)} is stored.`);
  }
}
