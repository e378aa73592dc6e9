import { dimensions } from '../../base/dimensions.ts';

const text = 'LowCardinality(String)';
const bands = 'Map(Int16, Float64)';
const digest = 'AggregateFunction(quantilesTDigest(0.5, 0.9, 0.95, 0.99, 0.999), Float32)';

/** Columns of `chunk_rows` in the order of writing, with their ClickHouse types. */
export const chunkColumnTypes: Readonly<Record<string, string>> = {
  kind: "Enum8('stage' = 1, 'driver' = 2, 'exemplar' = 3)",
  window_start: "DateTime('UTC')",
  ...Object.fromEntries(
    dimensions.map((name) => [name, name === 'cold_start' ? 'Bool' : text] as const),
  ),
  attributes: text,
  stage: text,
  requests: 'UInt64',
  errors: 'UInt64',
  timeouts: 'UInt64',
  cancelled: 'UInt64',
  sum_ms: 'Float64',
  min_ms: 'Float64',
  max_ms: 'Float64',
  latency: digest,
  bands,
  bands_ms: bands,
  censored: 'UInt64',
  censored_latency: digest,
  ended_latency: digest,
  facet: text,
  value: 'String',
  event_time: "DateTime64(3, 'UTC')",
  status: text,
  trace_id: 'String',
  request_id: 'String',
  stages_ms: `Map(${text}, Float64)`,
  group_id: text,
  topic: text,
  partition: 'UInt32',
  start_offset: 'UInt64',
  log_mark: 'UInt64',
  chunk_mark: 'UInt64',
};

export const chunkColumns: readonly string[] = Object.keys(chunkColumnTypes);
