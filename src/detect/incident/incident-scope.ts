import { type Dimension, dimensions } from '../../base/dimensions.ts';
import { seriesKey } from '../../series/series-key.ts';
import type { Series } from '../../series/series-window.ts';
import type { Scope } from '../event/anomaly-event.ts';

/** Values listed of one dimension, those that most affected series have first. */
export const maxScopeValues = 5;

/** What they all have is no chance where most of those that have it are hit, or where chance is so rare. */
const mostShare = 0.75;
const rareChance = 0.01;

export interface IncidentScopeInput {
  /** Series that it has affected, each once; at least two. */
  readonly affected: readonly Series[];
  /** How many of them have not recovered. */
  readonly unresolved: number;
  /** All series with enough traffic of late to be judged, those of other models too. */
  readonly live: readonly Series[];
}

/**
 * How far one cause reaches: how many of the series of the models it hits, value by value, and what all that
 * it hits have in common and others do not. A bad version shows there, and so does a region.
 */
export function incidentScope({ affected, unresolved, live }: IncidentScopeInput): Scope {
  const models = new Set(affected.map(({ model }) => model));
  const everyone = new Map(
    [...live.filter(({ model }) => models.has(model)), ...affected].map((series) => [
      seriesKey(series),
      series,
    ]),
  );
  const common: Scope['common'] = [];
  const values: Scope['values'] = [];
  for (const dimension of dimensions) {
    const totals = countBy([...everyone.values()], dimension);
    if (totals.size < 2) continue;
    const hit = [...countBy(affected, dimension)].sort(
      ([a, x], [b, y]) => y - x || (a < b ? -1 : 1),
    );
    for (const [value, count] of hit.slice(0, maxScopeValues)) {
      values.push({ dimension, value, affected: count, total: totals.get(value) ?? count });
    }
    const [only] = hit;
    if (hit.length > 1 || only === undefined) continue;
    const [value, series] = only;
    const having = totals.get(value) ?? series;
    const isRare = chanceOfCommon(series, having, everyone.size) <= rareChance;
    if (series >= mostShare * having || isRare) common.push({ dimension, value });
  }
  return {
    affected: affected.length,
    unresolved,
    total: everyone.size,
    common,
    values,
  };
}

/** How often so many series, drawn at random from all, would all be of those that have a value. */
function chanceOfCommon(series: number, having: number, all: number): number {
  let chance = 1;
  for (let i = 0; i < series; i++) chance *= (having - i) / (all - i);
  return chance;
}

function countBy(list: readonly Series[], dimension: Dimension): Map<string, number> {
  const counts = new Map<string, number>();
  for (const series of list) {
    const value = String(series[dimension]);
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return counts;
}
