import { type DimensionName, dimensions } from '../../base/dimensions.ts';
import type { Scope } from '../../contract/anomaly-event.ts';
import { dimensionValue, ownDimensionsOf, seriesKey } from '../../series/series-key.ts';
import type { Series } from '../../series/series-window.ts';

/** Values listed per dimension, those with the most affected series first. */
export const maxScopeValues = 5;

/**
 * Limits for a common value: most of its series are affected, and that is hardly a coincidence; or it is
 * none. Without the first chance a version is blamed for its three series where one of another is known.
 */
const mostShare = 0.75;
const smallChance = 0.2;
const rareChance = 0.01;

export interface IncidentScopeInput {
  /** Affected series, each once; at least two. */
  readonly affected: readonly Series[];
  /** Number of affected series that have not recovered. */
  readonly unresolved: number;
  /** All series with enough recent traffic to be evaluated, those of other models too. */
  readonly live: readonly Series[];
  /** Those of them that another incident has, by `seriesKey`. @default {none} */
  readonly elsewhere?: ReadonlySet<string>;
}

/**
 * Scope of one cause: the affected part of its models' series, value by value, and the values that only
 * affected series have in common. A bad version or region shows there. Series of another incident count
 * neither as affected nor as not: their cause is not known.
 */
export function incidentScope(input: IncidentScopeInput): Scope {
  const { affected, unresolved, live, elsewhere } = input;
  const models = new Set(affected.map(({ model }) => model));
  const related = [...live.filter(({ model }) => models.has(model)), ...affected];
  const all = [...new Map(related.map((series) => [seriesKey(series), series])).values()];
  const own = new Set(affected.map(seriesKey));
  const isKnown = (key: string) => own.has(key) || elsewhere?.has(key) !== true;
  const wellKnown = all.filter((series) => isKnown(seriesKey(series)));
  const common: Scope['common'] = [];
  const values: Scope['values'] = [];
  for (const dimension of [...dimensions, ...ownDimensionsOf(all)]) {
    const totals = countBy(all, dimension);
    if (totals.size < 2) continue;
    const counts = [...countBy(affected, dimension)].sort(
      ([a, x], [b, y]) => y - x || (a < b ? -1 : 1),
    );
    for (const [value, count] of counts.slice(0, maxScopeValues)) {
      values.push({ dimension, value, affected: count, total: totals.get(value) ?? count });
    }
    const [only] = counts;
    if (counts.length > 1 || only === undefined) continue;
    const [value, series] = only;
    const known = countBy(wellKnown, dimension);
    if (known.size < 2) continue;
    const having = known.get(value) ?? series;
    const chance = chanceOfCommon(series, having, wellKnown.length);
    const isMost = series >= mostShare * having && chance <= smallChance;
    if (isMost || chance <= rareChance) common.push({ dimension, value });
  }
  return { affected: affected.length, unresolved, total: all.length, common, values };
}

/** Probability that `series` random ones of `all` are among the `having` with a value. */
function chanceOfCommon(series: number, having: number, all: number): number {
  let chance = 1;
  for (let i = 0; i < series; i++) chance *= (having - i) / (all - i);
  return chance;
}

function countBy(list: readonly Series[], dimension: DimensionName): Map<string, number> {
  const counts = new Map<string, number>();
  for (const series of list) {
    const value = dimensionValue(series, dimension);
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return counts;
}
