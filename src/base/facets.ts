/**
 * Facets: what a request can be told apart by without being a dimension. They are kept per model
 * and version in `drivers_1m`, to say which value carries a tail's excess. Numbers fall into
 * power-of-two buckets ("8-15"), so that a facet has few values.
 */
export const facets = [
  'host',
  'cache_hit',
  'batch_size',
  'request_bytes',
  'input_tokens',
  'concurrency',
] as const;

export type Facet = (typeof facets)[number];
