import type { ClickHouseClient } from '@clickhouse/client';
import type { WindowRange } from './window-reader.ts';

/** Start of the earliest stored window of a range; undefined without one. Cost: one lookup. */
export async function firstWindowMs(
  client: ClickHouseClient,
  { fromMs, toMs, windowMs }: WindowRange,
): Promise<number | undefined> {
  const result = await client.query({
    query: `SELECT toUnixTimestamp(min(window_start)) AS seconds, count() AS found FROM latency_10s
            WHERE window_start >= toDateTime({from:UInt32}, 'UTC') AND window_start < toDateTime({to:UInt32}, 'UTC')`,
    query_params: { from: Math.floor(fromMs / 1000), to: Math.floor(toMs / 1000) },
    format: 'JSONEachRow',
  });
  const row = (await result.json<{ seconds: number; found: string }>())[0];
  if (row === undefined || Number(row.found) === 0) return undefined;
  return Math.floor((Number(row.seconds) * 1000) / windowMs) * windowMs;
}
