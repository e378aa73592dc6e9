import type { ClickHouseClient } from '@clickhouse/client';
import type { FacetName } from '../base/facets.ts';
import { readRows } from './client/read-query.ts';

/** Requests of one value of a facet, by the band of their total. */
export interface FacetValue {
  readonly facet: FacetName;
  /** A host, `hit` or `miss`, or a power of two and the number before the next one: `512-1023`. */
  readonly value: string;
  readonly requests: number;
  readonly bands: ReadonlyMap<number, number>;
  /** Percentiles of the total in the order asked for, each with the edges of its band. */
  readonly quantiles: readonly BandQuantile[];
}

/** A percentile that is known by its band, in milliseconds. A band is 14 to 25 % wide. */
export interface BandQuantile {
  readonly q: number;
  /** As if durations were spread evenly over the band. */
  readonly ms: number;
  readonly low_ms: number;
  readonly high_ms: number;
}

/** Selects the requests: facets are stored by the minute, for a whole model or a version of it ('': any). */
export interface AskedFacets {
  readonly model: string;
  readonly version: string;
  /** Whole minutes. */
  readonly fromSeconds: number;
  readonly toSeconds: number;
  readonly facets: readonly FacetName[];
  readonly levels: readonly number[];
}

/** Values of a facet in one answer; beyond them are those with the fewest requests. */
const mostFacetValues = 200;

/** A row of sql/queries/view_facets.sql. */
export interface StoredFacet extends Pick<FacetValue, 'facet' | 'value'> {
  readonly requests: string;
  /** Its first and last minute with requests. */
  readonly first_seconds: number;
  readonly last_seconds: number;
  readonly amounts: Readonly<Record<string, number>>;
  readonly quantiles_ms: readonly number[];
  readonly low_ms: readonly number[];
  readonly high_ms: readonly number[];
}

export function facetParameters({ facets, levels, ...query }: AskedFacets) {
  return { ...query, facets: [...facets], levels: [...levels], limit: mostFacetValues };
}

export function facetValueOf(row: StoredFacet, levels: readonly number[]): FacetValue {
  const { facet, value, requests, amounts } = row;
  return {
    ...{ facet, value, requests: Number(requests) },
    bands: new Map(Object.entries(amounts).map(([band, n]) => [Number(band), Number(n)])),
    quantiles: levels.map((q, i) => ({
      q,
      ms: row.quantiles_ms[i] as number,
      low_ms: row.low_ms[i] as number,
      high_ms: row.high_ms[i] as number,
    })),
  };
}

/** Reads the requests of a model by the values of facets. */
export async function readFacets(
  client: ClickHouseClient,
  asked: AskedFacets,
): Promise<FacetValue[]> {
  const rows = await readRows<StoredFacet>(client, 'view_facets', facetParameters(asked));
  return rows.map((row) => facetValueOf(row, asked.levels));
}
