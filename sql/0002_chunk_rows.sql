-- Everything of one chunk lands here in one insert, in one block and one partition, so that it is
-- there whole or not at all; views fan it out. Rows stay for a short while, to look into a chunk.

CREATE TABLE drivers_1m
(
    window_start DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
    model        LowCardinality(String),
    version      LowCardinality(String),
    facet        LowCardinality(String),
    value        String,
    requests     SimpleAggregateFunction(sum, UInt64),
    -- band of the request's total -> requests
    bands        SimpleAggregateFunction(sumMap, Map(Int16, Float64)) CODEC(ZSTD(1))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMMDD(window_start)
ORDER BY (model, version, facet, window_start, value)
SETTINGS non_replicated_deduplication_window = 100000, ttl_only_drop_parts = 1;

CREATE TABLE exemplars
(
    window_start DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
    event_time   DateTime64(3, 'UTC'),
    service      LowCardinality(String),
    model        LowCardinality(String),
    version      LowCardinality(String),
    request_type LowCardinality(String),
    region       LowCardinality(String),
    host         LowCardinality(String),
    tenant       LowCardinality(String),
    cold_start   Bool,
    status       LowCardinality(String),
    total_ms     Float64,
    trace_id     String,
    request_id   String,
    stages_ms    Map(LowCardinality(String), Float64) CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(window_start)
ORDER BY (model, window_start, total_ms)
SETTINGS non_replicated_deduplication_window = 100000, ttl_only_drop_parts = 1;

CREATE TABLE chunk_rows
(
    kind         Enum8('stage' = 1, 'driver' = 2, 'exemplar' = 3),
    window_start DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
    service      LowCardinality(String),
    model        LowCardinality(String),
    version      LowCardinality(String),
    request_type LowCardinality(String),
    region       LowCardinality(String),
    host         LowCardinality(String),
    tenant       LowCardinality(String),
    cold_start   Bool,
    stage        LowCardinality(String),
    requests     UInt64,
    errors       UInt64,
    timeouts     UInt64,
    cancelled    UInt64,
    sum_ms       Float64,
    min_ms       Float64,
    max_ms       Float64,
    latency      AggregateFunction(quantilesTDigest(0.5, 0.9, 0.95, 0.99, 0.999), Float32),
    bands        Map(Int16, Float64),
    bands_ms     Map(Int16, Float64),
    facet        LowCardinality(String),
    value        String,
    event_time   DateTime64(3, 'UTC'),
    status       LowCardinality(String),
    trace_id     String,
    request_id   String,
    stages_ms    Map(LowCardinality(String), Float64),
    -- The chunk: what the ledger row that will follow says, too.
    group_id     LowCardinality(String),
    topic        LowCardinality(String),
    partition    UInt32,
    start_offset UInt64,
    inserted_at  DateTime('UTC') DEFAULT now()
)
ENGINE = MergeTree
ORDER BY (kind, model, window_start)
SETTINGS non_replicated_deduplication_window = 100000;

CREATE MATERIALIZED VIEW latency_10s_fill TO latency_10s
DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    window_start, service, model, version, request_type, region, host, tenant, cold_start, stage,
    requests, errors, timeouts, cancelled, sum_ms, min_ms, max_ms, latency, bands, bands_ms
FROM chunk_rows
WHERE kind = 'stage';

CREATE MATERIALIZED VIEW drivers_1m_fill TO drivers_1m
DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT window_start, model, version, facet, value, requests, bands
FROM chunk_rows
WHERE kind = 'driver';

CREATE MATERIALIZED VIEW exemplars_fill TO exemplars
DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    window_start, event_time, service, model, version, request_type, region, host, tenant, cold_start,
    status, sum_ms AS total_ms, trace_id, request_id, stages_ms
FROM chunk_rows
WHERE kind = 'exemplar';
