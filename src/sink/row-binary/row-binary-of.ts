import type { ClickHouseClient } from '@clickhouse/client';
import { readQuery } from '../read-query.ts';

type Parameters = Readonly<Record<string, unknown>>;

/** The response to a query, as it comes. `destroy` gives up what was not read. */
export interface ResponseStream extends AsyncIterable<unknown> {
  destroy(): unknown;
}

/**
 * The response to a query of sql/queries in RowBinary, part by part. The server holds it back until the query
 * has ended, so that a query that fails gives an error and no half of a response.
 */
export async function rowBinaryStream(
  client: ClickHouseClient,
  query: string,
  parameters: Parameters,
): Promise<ResponseStream> {
  const { stream } = await client.exec({
    query: readQuery(query),
    query_params: parameters,
    clickhouse_settings: { wait_end_of_query: 1 },
  });
  return stream;
}

/** The whole response to a query of sql/queries in RowBinary, in memory. */
export async function rowBinaryOf(
  client: ClickHouseClient,
  query: string,
  parameters: Parameters,
): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of await rowBinaryStream(client, query, parameters)) {
    parts.push(part as Buffer);
  }
  return Buffer.concat(parts);
}
