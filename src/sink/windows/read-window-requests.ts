import type { ClickHouseClient } from '@clickhouse/client';
import { readQuery } from '../read-query.ts';
import type { WindowRange } from './window-reader.ts';

/** Reads the requests of all series per window start in a range; windows without any are missing. */
export async function readWindowRequests(
  client: ClickHouseClient,
  { fromMs, toMs, windowMs }: WindowRange,
): Promise<ReadonlyMap<number, number>> {
  const result = await client.query({
    query: readQuery('window_requests'),
    query_params: {
      windowSeconds: windowMs / 1000,
      fromSeconds: fromMs / 1000,
      toSeconds: toMs / 1000,
    },
    format: 'JSONEachRow',
  });
  const rows = await result.json<Record<'start_seconds' | 'requests', string>>();
  return new Map(
    rows.map(({ start_seconds, requests }) => [Number(start_seconds) * 1000, Number(requests)]),
  );
}
