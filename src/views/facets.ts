import { overflowValue } from '../base/dimensions.ts';
import type { FacetName } from '../base/facets.ts';
import { minuteSeconds } from '../base/time.ts';
import type { ClickHouseClient } from '../sink/client/clickhouse.ts';
import { facetParameters, facetValueOf, type StoredFacet } from '../sink/read-facets.ts';
import type { FacetsAnswer, TokenRate } from './answers/facets.ts';
import { answeredRange, type Question } from './question.ts';
import { unknownNames } from './unknown-name.ts';
import { viewRows } from './view-rows.ts';
import { windowsOf } from './window-states.ts';

export interface FacetsQuestion extends Question {
  readonly facets: readonly FacetName[];
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
  { filters, range, bounds, facets, quantiles }: FacetsQuestion,
): Promise<FacetsAnswer> {
  const { model, version } = filters;
  const fromSeconds = Math.floor(range.fromSeconds / minuteSeconds) * minuteSeconds;
  const toSeconds = Math.ceil(range.toSeconds / minuteSeconds) * minuteSeconds;
  const { rows, sql } = await viewRows<StoredFacet>(
    client,
    'view_facets',
    facetParameters({
      ...{ model, version, fromSeconds, toSeconds },
      facets,
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
    tokens: tokenRates(rows, { toSeconds: range.toSeconds, completeMs: bounds.completeMs }),
    sql,
    ...unknown,
  };
}

const tokenFacets = ['input_tokens', 'output_tokens'] as const;

/**
 * Tokens in and out a second: of each power of two the requests times the middle of its numbers, and its
 * ends. Seconds are counted from the first minute with requests up to the last one, or to where windows are
 * complete.
 */
export function tokenRates(
  rows: readonly Pick<
    StoredFacet,
    'facet' | 'value' | 'requests' | 'first_seconds' | 'last_seconds'
  >[],
  { toSeconds, completeMs }: { readonly toSeconds: number; readonly completeMs: number },
): TokenRate[] {
  return tokenFacets.flatMap((facet) => {
    const own = rows.filter((row) => row.facet === facet && row.value !== overflowValue);
    if (own.length === 0) return [];
    const firstSeconds = Math.min(...own.map(({ first_seconds }) => first_seconds));
    const lastSeconds = Math.max(...own.map(({ last_seconds }) => last_seconds));
    const minuteEnd = Math.min(toSeconds, lastSeconds + minuteSeconds);
    const isCut = completeMs / 1000 > lastSeconds;
    const seconds = (isCut ? Math.min(minuteEnd, completeMs / 1000) : minuteEnd) - firstSeconds;
    let [low, high] = [0, 0];
    for (const { value, requests } of own) {
      const [first = 0, last = first] = value.split('-').map(Number);
      low += first * Number(requests);
      high += last * Number(requests);
    }
    return {
      facet,
      per_second: (low + high) / 2 / seconds,
      low_per_second: low / seconds,
      high_per_second: high / seconds,
    };
  });
}
