import type { ClickHouseClient } from '@clickhouse/client';
import { readRows } from '../client/read-query.ts';
import type { WindowRange } from './window-range.ts';

/** Reads the requests of all series per window start in a range; windows without any are missing. */
export async function readWindowRequests(
  client: ClickHouseClient,
  { fromMs, toMs, windowMs }: WindowRange,
): Promise<ReadonlyMap<number, number>> {
  type Row = Record<'start_seconds' | 'requests', string>;
  const rows = await readRows<Row>(client, 'window_requests', {
    windowSeconds: windowMs / 1000,
    fromSeconds: fromMs / 1000,
    toSeconds: toMs / 1000,
  });
  return new Map(
    rows.map(({ start_seconds, requests }) => [Number(start_seconds) * 1000, Number(requests)]),
  );
}
