import { facets as allFacets, type Facet } from '../base/facets.ts';
import { minuteSeconds } from '../base/time.ts';
import type { ClickHouseClient } from '../sink/client/clickhouse.ts';
import { facetParameters, facetValueOf, type StoredFacet } from '../sink/read-facets.ts';
import type { FacetsAnswer } from './answers/facets.ts';
import { answeredRange, type Question } from './question.ts';
import { unknownNames } from './unknown-name.ts';
import { viewRows } from './view-rows.ts';
import { windowsOf } from './window-states.ts';

export interface FacetsQuestion extends Question {
  /** undefined for all of them. */
  readonly facet: Facet | undefined;
  readonly quantiles: readonly number[];
}

/**
 * Percentiles of a model's requests by host, by size and by whatever else is stored of them. Facets are
 * stored by the minute, by model and version: other filters do not apply.
 *
 * @throws UnknownName
 */
export async function facetsView(
  client: ClickHouseClient,
  { filters, range, bounds, facet, quantiles }: FacetsQuestion,
): Promise<FacetsAnswer> {
  const { model, version } = filters;
  const fromSeconds = Math.floor(range.fromSeconds / minuteSeconds) * minuteSeconds;
  const toSeconds = Math.ceil(range.toSeconds / minuteSeconds) * minuteSeconds;
  const { rows, sql } = await viewRows<StoredFacet>(
    client,
    'view_facets',
    facetParameters({
      ...{ model, version, fromSeconds, toSeconds },
      facets: facet === undefined ? allFacets : [facet],
      levels: quantiles,
    }),
  );
  const unknown = rows.length === 0 ? await unknownNames(client, filters) : {};
  const whole = { ...range, fromSeconds, toSeconds, stepSeconds: toSeconds - fromSeconds };
  return {
    range: answeredRange(whole, false),
    windows: windowsOf(whole, bounds),
    rows: rows.map((row) => {
      const { bands: _, ...value } = facetValueOf(row, quantiles);
      return { ...value, quantiles: [...value.quantiles] };
    }),
    sql,
    ...unknown,
  };
}
