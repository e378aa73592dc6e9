import type { ClickHouseClient } from '@clickhouse/client';
import { readQuery } from './read-query.ts';

/** The whole answer of a query of sql/queries that answers in RowBinary. */
export async function rowBinaryOf(
  client: ClickHouseClient,
  query: string,
  parameters: Readonly<Record<string, unknown>>,
): Promise<Buffer> {
  const { stream } = await client.exec({
    query: readQuery(query),
    query_params: parameters,
    clickhouse_settings: { wait_end_of_query: 1 },
  });
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
