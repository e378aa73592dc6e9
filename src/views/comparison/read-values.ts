import type { DimensionName } from '../../base/dimensions.ts';
import type { SideValue } from '../../compare/verdict/by-value.ts';
import type { ClickHouseClient } from '../../sink/client/clickhouse.ts';
import { readRows } from '../../sink/client/read-query.ts';
import { groupedBy } from '../../sink/windows/read-tails.ts';
import type { AskedSide } from './compared-blocks.ts';
import type { MinutesQuery } from './read-comparison.ts';

/** Values of one side that are read; beyond them are those with the fewest requests. */
const mostValues = 10_000;

/** Values of a dimension in the requests of both sides, in any order, with the requests of each. */
export async function readValues(
  client: ClickHouseClient,
  by: DimensionName,
  { a, b, ...of }: MinutesQuery,
): Promise<SideValue[]> {
  const read = async ({ version, fromMs, toMs }: AskedSide) => {
    const rows = await readRows<{ value: string; requests: string }>(client, 'comparison_values', {
      ...{ ...of, ...groupedBy(by), version, table: 'latency_1m', limit: mostValues },
      // Whole minutes, as they are compared.
      fromSeconds: Math.floor(fromMs / 60_000) * 60,
      toSeconds: Math.ceil(toMs / 60_000) * 60,
    });
    return new Map(rows.map(({ value, requests }) => [value, Number(requests)]));
  };
  const [baseline, candidate] = await Promise.all([read(a), read(b)]);
  return [...new Set([...baseline.keys(), ...candidate.keys()])].map((value) => ({
    value,
    requests: { candidate: candidate.get(value) ?? 0, baseline: baseline.get(value) ?? 0 },
  }));
}
