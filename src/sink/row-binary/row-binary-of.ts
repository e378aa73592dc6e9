import { Readable } from 'node:stream';
import type { ClickHouseClient, ExecParams } from '@clickhouse/client';
import { type readingSettings, withPermittedSettings } from '../client/query-settings.ts';
import { readQuery } from '../client/read-query.ts';

type Parameters = Readonly<Record<string, unknown>>;

/** A streamed response. `destroy` drops the unread rest. */
export interface ResponseStream extends AsyncIterable<unknown> {
  destroy(): unknown;
}

/**
 * Runs a query of sql/queries and streams its RowBinary response. The server sends it only after the query
 * has ended, so that a failing query returns an error, not a partial response.
 *
 * @param wished settings that are sent where the user may change them.
 */
export async function rowBinaryStream(
  client: ClickHouseClient,
  query: string,
  parameters: Parameters,
  wished: Partial<typeof readingSettings> = {},
): Promise<ResponseStream> {
  return withPermittedSettings(client, async (settings) => {
    const { stream } = await client.exec({
      query: readQuery(query),
      query_params: parameters,
      clickhouse_settings: { wait_end_of_query: 1, ...wished, ...settings },
    });
    return stream;
  });
}

/**
 * Runs a query of sql/queries and returns its whole RowBinary response.
 *
 * @param wished settings that are sent where the user may change them.
 */
export async function rowBinaryOf(
  client: ClickHouseClient,
  query: string,
  parameters: Parameters,
  wished: Partial<typeof readingSettings> = {},
): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of await rowBinaryStream(client, query, parameters, wished)) {
    parts.push(part as Buffer);
  }
  return Buffer.concat(parts);
}

/** Runs an INSERT … FORMAT … with these bytes. */
export async function sendBytes(
  client: ClickHouseClient,
  statement: string,
  bytes: Buffer,
  options: Pick<ExecParams, 'query_params' | 'clickhouse_settings'>,
): Promise<void> {
  const { stream } = await client.exec({
    ...options,
    query: statement,
    values: Readable.from([bytes], { objectMode: false }),
  });
  for await (const _ of stream) {
    // The response is empty; reading it to its end releases the socket.
  }
}
