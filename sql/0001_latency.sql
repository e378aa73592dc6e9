-- Windows: one row per window, series and stage, with a mergeable t-digest of its milliseconds.
-- Each resolution is a table with a retention of its own; views fill the coarser from the finer,
-- within the insert that filled the finer one.
--
-- bands: what requests of each total were made of. A band is a quarter octave of a request's
-- total (band 0 begins at 1 ms). On stage = 'total': band -> requests. On any other stage:
-- band -> milliseconds of that stage in the requests of that band. bands_ms is filled on 'total'
-- only: band -> milliseconds of the total.

-- Ordered by time first: what reads 10-second windows reads all series of the last minutes.
CREATE TABLE latency_10s
(
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
    requests     SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1)),
    errors       SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1)),
    timeouts     SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1)),
    cancelled    SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1)),
    sum_ms       SimpleAggregateFunction(sum, Float64),
    min_ms       SimpleAggregateFunction(min, Float64),
    max_ms       SimpleAggregateFunction(max, Float64),
    latency      AggregateFunction(quantilesTDigest(0.5, 0.9, 0.95, 0.99, 0.999), Float32) CODEC(ZSTD(1)),
    bands        SimpleAggregateFunction(sumMap, Map(Int16, Float64)) CODEC(ZSTD(1)),
    bands_ms     SimpleAggregateFunction(sumMap, Map(Int16, Float64)) CODEC(ZSTD(1))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMMDD(window_start)
ORDER BY (window_start, model, stage, version, request_type, region, service, tenant, host, cold_start)
SETTINGS non_replicated_deduplication_window = 100000, ttl_only_drop_parts = 1;

-- Coarser windows are read one model at a time, over long ranges: model first.
CREATE TABLE latency_1m AS latency_10s
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMMDD(window_start)
ORDER BY (model, stage, window_start, version, request_type, region, service, tenant, host, cold_start)
SETTINGS non_replicated_deduplication_window = 100000, ttl_only_drop_parts = 1;

CREATE TABLE latency_1h AS latency_10s
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(window_start)
ORDER BY (model, stage, window_start, version, request_type, region, service, tenant, host, cold_start)
SETTINGS non_replicated_deduplication_window = 100000, ttl_only_drop_parts = 1;

CREATE TABLE latency_1d AS latency_10s
ENGINE = AggregatingMergeTree
PARTITION BY toYear(window_start)
ORDER BY (model, stage, window_start, version, request_type, region, service, tenant, host, cold_start)
SETTINGS non_replicated_deduplication_window = 100000, ttl_only_drop_parts = 1;

CREATE MATERIALIZED VIEW latency_1m_fill TO latency_1m
DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    toStartOfMinute(window_start) AS window_start,
    service, model, version, request_type, region, host, tenant, cold_start, stage,
    sum(requests) AS requests, sum(errors) AS errors, sum(timeouts) AS timeouts, sum(cancelled) AS cancelled,
    sum(sum_ms) AS sum_ms, min(min_ms) AS min_ms, max(max_ms) AS max_ms,
    quantilesTDigestMergeState(0.5, 0.9, 0.95, 0.99, 0.999)(latency) AS latency,
    sumMap(bands) AS bands, sumMap(bands_ms) AS bands_ms
FROM latency_10s
GROUP BY window_start, service, model, version, request_type, region, host, tenant, cold_start, stage;

CREATE MATERIALIZED VIEW latency_1h_fill TO latency_1h
DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    toStartOfHour(window_start) AS window_start,
    service, model, version, request_type, region, host, tenant, cold_start, stage,
    sum(requests) AS requests, sum(errors) AS errors, sum(timeouts) AS timeouts, sum(cancelled) AS cancelled,
    sum(sum_ms) AS sum_ms, min(min_ms) AS min_ms, max(max_ms) AS max_ms,
    quantilesTDigestMergeState(0.5, 0.9, 0.95, 0.99, 0.999)(latency) AS latency,
    sumMap(bands) AS bands, sumMap(bands_ms) AS bands_ms
FROM latency_1m
GROUP BY window_start, service, model, version, request_type, region, host, tenant, cold_start, stage;

CREATE MATERIALIZED VIEW latency_1d_fill TO latency_1d
DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    toStartOfDay(window_start) AS window_start,
    service, model, version, request_type, region, host, tenant, cold_start, stage,
    sum(requests) AS requests, sum(errors) AS errors, sum(timeouts) AS timeouts, sum(cancelled) AS cancelled,
    sum(sum_ms) AS sum_ms, min(min_ms) AS min_ms, max(max_ms) AS max_ms,
    quantilesTDigestMergeState(0.5, 0.9, 0.95, 0.99, 0.999)(latency) AS latency,
    sumMap(bands) AS bands, sumMap(bands_ms) AS bands_ms
FROM latency_1h
GROUP BY window_start, service, model, version, request_type, region, host, tenant, cold_start, stage;
