import type { Config } from '../config/schema.ts';
import {
  type ClickHouseClient,
  clickHouseError,
  openClickHouse,
} from '../sink/client/clickhouse.ts';

/**
 * Lends a client to `use`, and closes it afterwards.
 *
 * @param doing action for the error message: `read tails`
 * @throws {OperatorError} for errors of ClickHouse
 */
export async function withClickHouse<T>(
  config: Config,
  doing: string,
  use: (client: ClickHouseClient) => Promise<T>,
): Promise<T> {
  const client = openClickHouse(config.clickhouse);
  try {
    return await use(client);
  } catch (error) {
    throw clickHouseError(error, doing, config.clickhouse);
  } finally {
    await client.close();
  }
}
