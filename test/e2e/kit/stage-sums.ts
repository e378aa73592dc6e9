import type { ClickHouseClient } from '../../../src/sink/client/clickhouse.ts';
import type { Resolution } from '../../../src/sink/windows/read-tails.ts';
import type { StageSums } from './truth.ts';

/**
 * Requests and microseconds by stage, from a table of windows. Stages by name. Each stored row is rounded to
 * the integer that it represents before the sum, so that no sum is too large to be exact.
 */
export async function stageSums(
  client: ClickHouseClient,
  resolution: Resolution,
): Promise<StageSums> {
  const result = await client.query({
    query: `SELECT stage, sum(requests) AS n, sum(toInt64(round(sum_ms * 1000))) AS us
            FROM {table:Identifier} GROUP BY stage ORDER BY stage`,
    query_params: { table: `latency_${resolution}` },
    format: 'JSONEachRow',
  });
  const rows = await result.json<{ stage: string; n: string; us: string }>();
  return Object.fromEntries(
    rows.map(({ stage, n, us }) => [stage, { requests: Number(n), sumUs: Number(us) }]),
  );
}

/** Adds the sums of two sets of events. */
export function both(a: StageSums, b: StageSums): StageSums {
  const stages = Object.keys({ ...a, ...b });
  const none = { requests: 0, sumUs: 0 };
  return Object.fromEntries(
    stages.map((stage) => {
      const [one, other] = [a[stage] ?? none, b[stage] ?? none];
      return [stage, { requests: one.requests + other.requests, sumUs: one.sumUs + other.sumUs }];
    }),
  );
}
