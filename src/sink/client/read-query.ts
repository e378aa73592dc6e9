import { readFileSync } from 'node:fs';
import type { ClickHouseClient } from '@clickhouse/client';
import { type readingSettings, withPermittedSettings } from './query-settings.ts';

const folder = new URL('../../../sql/queries/', import.meta.url);
const texts = new Map<string, string>();

/** Text of sql/queries/<name>.sql. Values are passed as query parameters, never as text. */
export function readQuery(name: string): string {
  let text = texts.get(name);
  if (text === undefined) {
    text = readFileSync(new URL(`${name}.sql`, folder), 'utf8');
    texts.set(name, text);
  }
  return text;
}

/** Runs sql/queries/<name>.sql and returns its rows. UInt64 and Int64 are texts or numbers in them. */
export function readRows<Row>(
  client: ClickHouseClient,
  name: string,
  params: Readonly<Record<string, unknown>> = {},
): Promise<Row[]> {
  return rowsOf(client, readQuery(name), params);
}

/**
 * Runs a query and returns its rows.
 *
 * @param wished settings that are sent where the user may change them.
 */
export function rowsOf<Row>(
  client: ClickHouseClient,
  query: string,
  params: Readonly<Record<string, unknown>> = {},
  wished: Partial<typeof readingSettings> = {},
): Promise<Row[]> {
  return withPermittedSettings(client, async (settings) => {
    const result = await client.query({
      query,
      query_params: params,
      clickhouse_settings: { ...wished, ...settings },
      format: 'JSONEachRow',
    });
    return result.json<Row>();
  });
}
