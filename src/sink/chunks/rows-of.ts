import type { ClickHouseClient } from '@clickhouse/client';
import { readQuery } from '../read-query.ts';

/** Reads the rows of a query in sql/queries. */
export async function rowsOf<T>(
  client: ClickHouseClient,
  query: string,
  parameters: Readonly<Record<string, unknown>>,
): Promise<T[]> {
  const answer = await client.query({
    query: readQuery(query),
    query_params: parameters,
    format: 'JSONEachRow',
  });
  return answer.json<T>();
}
