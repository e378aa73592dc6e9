import type { ClickHouseClient } from '@clickhouse/client';
import { readRows } from '../client/read-query.ts';

/** First minute from a time on in which a version of a model has requests; undefined without any. */
export async function readFirstMinute(
  client: ClickHouseClient,
  { model, version, fromMs }: { model: string; version: string; fromMs: number },
): Promise<number | undefined> {
  const fromSeconds = Math.max(0, Math.floor(fromMs / 1000));
  const [row] = await readRows<{ first_seconds: string }>(client, 'first_minute', {
    ...{ model, version, fromSeconds },
  });
  return row === undefined ? undefined : Number(row.first_seconds) * 1000;
}
