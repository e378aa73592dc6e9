import type { ClickHouseClient } from '@clickhouse/client';
import { readQuery } from '../read-query.ts';
import type { SteppedRange } from './each-piece.ts';

/**
 * Shortens a range to begin with the first stored window; undefined where the table has none in it. A table
 * of an hour then takes one query instead of one for each empty piece of the days before.
 */
export async function sinceFirstWindow(
  client: ClickHouseClient,
  table: 'latency_1m' | 'latency_1h',
  range: SteppedRange,
): Promise<SteppedRange | undefined> {
  const { fromMs, toMs, stepMs } = range;
  const result = await client.query({
    query: readQuery('first_window'),
    query_params: { table, fromSeconds: fromMs / 1000, toSeconds: toMs / 1000 },
    format: 'JSONEachRow',
  });
  const [first] = await result.json<{ readonly first_seconds: number }>();
  if (first === undefined) return undefined;
  const firstMs = Math.floor((first.first_seconds * 1000) / stepMs) * stepMs;
  return { ...range, fromMs: Math.max(fromMs, firstMs) };
}
