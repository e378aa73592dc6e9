import type { ClickHouseClient } from '@clickhouse/client';
import { readRows } from '../client/read-query.ts';

/** Half-open range of window starts. */
export interface WindowRange {
  readonly fromMs: number;
  readonly toMs: number;
  readonly windowMs: number;
}

/** Start of a range's first window that is stored in a table; undefined without one. Cost: one lookup. */
export async function firstWindowMs(
  client: ClickHouseClient,
  table: 'latency_10s' | 'latency_1m' | 'latency_1h',
  { fromMs, toMs, windowMs }: WindowRange,
): Promise<number | undefined> {
  const [first] = await readRows<{ first_seconds: number }>(client, 'first_window', {
    table,
    fromSeconds: Math.floor(fromMs / 1000),
    toSeconds: Math.floor(toMs / 1000),
  });
  if (first === undefined) return undefined;
  return Math.max(fromMs, Math.floor((first.first_seconds * 1000) / windowMs) * windowMs);
}
