import type { ClickHouseClient } from '@clickhouse/client';
import type { Facet } from '../base/facets.ts';
import { readRows } from './read-query.ts';

/** Requests of one value of a facet, by the band of their total. */
export interface FacetValue {
  readonly facet: Facet;
  /** A host, `hit` or `miss`, or a power of two and the number before the next one: `512-1023`. */
  readonly value: string;
  readonly requests: number;
  readonly bands: ReadonlyMap<number, number>;
}

/** Selects the requests: facets are stored by the minute, for a whole model or a version of it ('': any). */
export interface FacetsQuery {
  readonly model: string;
  readonly version: string;
  /** Whole minutes. */
  readonly fromSeconds: number;
  readonly toSeconds: number;
  readonly facets: readonly Facet[];
}

/** Values of a facet in one answer; beyond them are those with the fewest requests. */
export const mostFacetValues = 200;

/** A row of sql/queries/view_facets.sql. */
export interface StoredFacet {
  readonly facet: Facet;
  readonly value: string;
  readonly requests: string;
  readonly amounts: Readonly<Record<string, number>>;
}

export function facetParameters({ facets, ...query }: FacetsQuery) {
  return { ...query, facets: [...facets], limit: mostFacetValues };
}

export function facetValueOf({ facet, value, requests, amounts }: StoredFacet): FacetValue {
  const bands = new Map(Object.entries(amounts).map(([band, n]) => [Number(band), Number(n)]));
  return { facet, value, requests: Number(requests), bands };
}

/** Reads the requests of a model by the values of facets. */
export async function readFacets(
  client: ClickHouseClient,
  query: FacetsQuery,
): Promise<FacetValue[]> {
  const rows = await readRows<StoredFacet>(client, 'view_facets', facetParameters(query));
  return rows.map(facetValueOf);
}
