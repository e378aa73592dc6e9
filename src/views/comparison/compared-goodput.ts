import type { ComparedMinute } from '../../compare/compared-minute.ts';
import { type ConfiguredObjective, saysOfModel } from '../../contract/objectives/objective.ts';
import type { ClickHouseClient } from '../../sink/client/clickhouse.ts';
import { resolutions } from '../../sink/windows/read-tails.ts';
import type { ComparedGoodput } from '../answers/compare.ts';
import { readGoodput } from '../goodput/goodput.ts';
import { type ComparedSide, pairedSides, type SidesQuery } from './read-sides.ts';

/**
 * Goodput of both sides of a comparison, from the first block with requests of both to the last one; none
 * where there is no such block.
 */
export async function comparedGoodput(
  client: ClickHouseClient,
  objectives: readonly ConfiguredObjective[],
  query: SidesQuery,
  blocks: readonly ComparedMinute[],
): Promise<ComparedGoodput[]> {
  const sides = pairedSides(query, blocks);
  if (sides === undefined) return [];
  const { table, blockSeconds: _, ...of } = query;
  const resolution = resolutions.find((each) => table === `latency_${each}`) ?? '1m';
  const read = ({ version, fromSeconds, toSeconds }: ComparedSide) => {
    const { model, region, requestType, coldStart, attributePairs } = of;
    const requests = { model, version, region, requestType, coldStart, attributePairs };
    return readGoodput(client, objectives, { ...requests, fromSeconds, toSeconds, resolution });
  };
  const [a, b] = await Promise.all([read(sides.a), read(sides.b)]);
  return a.flatMap(({ objective: configured, row }, i) => {
    const other = b[i]?.row;
    if (other === undefined) return [];
    if (!saysOfModel(configured, row.requests + other.requests)) return [];
    const { name, objective, thresholds } = row;
    return [{ name, objective, thresholds, a: countsOf(row), b: countsOf(other) }];
  });
}

function countsOf({ requests, missed, goodput }: ComparedGoodput['a']): ComparedGoodput['a'] {
  return { requests, missed, goodput };
}
