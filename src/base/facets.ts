import type { AttributeName } from './dimensions.ts';

/** Facets that are numbers, in the order of `DecodedEvent.amounts`. */
export const amountFacets = [
  'batch_size',
  'request_bytes',
  'input_tokens',
  'concurrency',
  'response_bytes',
  'output_tokens',
  'queue_depth',
] as const;

/**
 * Properties of a request that are not dimensions, by model and version in `drivers_1m`. They show which
 * values contribute to a tail's excess. Numbers fall into power-of-two buckets ("8-15"), so that a facet has
 * few values.
 */
export const facets = ['host', 'cache_hit', ...amountFacets] as const;

export type Facet = (typeof facets)[number];

/** A facet that settings, selectors and rows name. */
export type FacetName = Facet | AttributeName;

/** Facets of a request's size. Others describe its server, what it met there, or its answer. */
const sizeFacets = [
  'batch_size',
  'request_bytes',
  'input_tokens',
] as const satisfies readonly Facet[];

/** Facets that users choose, of what they send and of the answer that they ask for: the mix of the traffic. */
export const mixFacets = [...sizeFacets, 'output_tokens'] as const satisfies readonly Facet[];
