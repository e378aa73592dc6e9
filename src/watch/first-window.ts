import type { ClickHouseClient } from '@clickhouse/client';

/** Start of the earliest stored window before a time, where a first detector begins; undefined for none. */
export async function firstWindowMs(
  client: ClickHouseClient,
  beforeMs: number,
  windowMs: number,
): Promise<number | undefined> {
  const result = await client.query({
    query: `SELECT toUnixTimestamp(min(window_start)) AS seconds, count() AS found FROM latency_10s
            WHERE window_start < toDateTime({before:UInt32}, 'UTC')`,
    query_params: { before: Math.floor(beforeMs / 1000) },
    format: 'JSONEachRow',
  });
  const row = (await result.json<{ seconds: number; found: string }>())[0];
  if (row === undefined || Number(row.found) === 0) return undefined;
  return Math.floor((Number(row.seconds) * 1000) / windowMs) * windowMs;
}
