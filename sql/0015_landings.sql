-- Landing rows are passed on to the tables behind, and not kept: with thousands of series, writing and merging
-- them took a quarter of what a chunk costs here. A row a chunk says that it has landed, and what with.
--
-- The landing table is an engine without storage. Each table behind it, this one among them, drops a block
-- whose token it has. As before, a row here does not prove that the other tables have the chunk.
CREATE TABLE chunk_landings
(
    group_id     LowCardinality(String),
    topic        LowCardinality(String),
    partition    UInt32,
    log_mark     UInt64,
    start_offset UInt64,
    -- The mark of the chunk's parts in the other tables (0007).
    chunk_mark   UInt64,
    row_count    UInt64,
    -- Sum of `requests` over the stage rows.
    samples      UInt64,
    -- It was sent again for this table alone: other tables may not know the chunk's token.
    is_fill      Bool,
    inserted_at  DateTime('UTC') DEFAULT now(),
    INDEX inserted_at_range inserted_at TYPE minmax GRANULARITY 1
)
ENGINE = MergeTree
ORDER BY (group_id, topic, partition, start_offset)
SETTINGS non_replicated_deduplication_window = 100000, ttl_only_drop_parts = 1;

DROP VIEW IF EXISTS latency_10s_fill SYNC;

DROP VIEW IF EXISTS latency_1m_fill SYNC;

DROP VIEW IF EXISTS latency_1h_fill SYNC;

DROP VIEW IF EXISTS latency_1d_fill SYNC;

DROP VIEW IF EXISTS drivers_1m_fill SYNC;

DROP VIEW IF EXISTS exemplars_fill SYNC;

DROP VIEW IF EXISTS chunk_landings_fill SYNC;

-- Of stored chunks whose rows are there. One that is still to be recorded is sent again by its successor: the
-- other tables drop it by its token, which this one does not know. Repeated, this adds none again.
INSERT INTO chunk_landings
SELECT
    group_id, topic, partition, log_mark, start_offset,
    max(r.chunk_mark) AS chunk_mark, count() AS row_count, sumIf(r.requests, r.kind = 'stage') AS samples,
    max(only_table != '') AS is_fill, min(r.inserted_at) AS inserted_at
FROM chunk_rows AS r
WHERE only_table IN ('', 'chunk_rows')
  AND (group_id, topic, partition, log_mark, start_offset) IN
      (SELECT group_id, topic, partition, log_mark, start_offset FROM flushes)
  AND (group_id, topic, partition, log_mark, start_offset) NOT IN
      (SELECT group_id, topic, partition, log_mark, start_offset FROM chunk_landings)
GROUP BY group_id, topic, partition, log_mark, start_offset;

CREATE OR REPLACE TABLE chunk_rows
(
    kind         Enum8('stage' = 1, 'driver' = 2, 'exemplar' = 3),
    window_start DateTime('UTC'),
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
    group_id     LowCardinality(String),
    topic        LowCardinality(String),
    partition    UInt32,
    start_offset UInt64,
    log_mark     UInt64,
    -- On the first row of each kind and day, 0 on all others.
    chunk_mark   UInt64,
    -- The one table that a row is for, where it was sent again; '' for all of them.
    only_table   LowCardinality(String),
    -- For the statement above, where this migration is repeated.
    inserted_at  DateTime('UTC') DEFAULT now()
)
ENGINE = Null;

CREATE MATERIALIZED VIEW chunk_landings_fill TO chunk_landings
DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    group_id, topic, partition, log_mark, start_offset,
    max(r.chunk_mark) AS chunk_mark, count() AS row_count, sumIf(r.requests, r.kind = 'stage') AS samples,
    max(only_table != '') AS is_fill
FROM chunk_rows AS r
WHERE only_table IN ('', 'chunk_landings')
GROUP BY group_id, topic, partition, log_mark, start_offset;

CREATE MATERIALIZED VIEW latency_10s_fill TO latency_10s
DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    window_start, service, model, version, request_type, region, host, tenant, cold_start, stage,
    requests, errors, timeouts, cancelled, sum_ms, min_ms, max_ms, latency, bands, bands_ms,
    if(chunk_mark = 0, [], [chunk_mark]) AS chunk_marks
FROM chunk_rows
WHERE kind = 'stage' AND only_table IN ('', 'latency_10s');

CREATE MATERIALIZED VIEW latency_1m_fill TO latency_1m
DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    toStartOfMinute(window_start) AS window_start, service, model, version, request_type, region, host, tenant, cold_start, stage,
    requests, errors, timeouts, cancelled, sum_ms, min_ms, max_ms, latency, bands, bands_ms,
    if(chunk_mark = 0, [], [chunk_mark]) AS chunk_marks
FROM chunk_rows
WHERE kind = 'stage' AND only_table IN ('', 'latency_1m');

CREATE MATERIALIZED VIEW latency_1h_fill TO latency_1h
DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    toStartOfHour(window_start) AS window_start, service, model, version, request_type, region, host, tenant, cold_start, stage,
    requests, errors, timeouts, cancelled, sum_ms, min_ms, max_ms, latency, bands, bands_ms,
    if(chunk_mark = 0, [], [chunk_mark]) AS chunk_marks
FROM chunk_rows
WHERE kind = 'stage' AND only_table IN ('', 'latency_1h');

CREATE MATERIALIZED VIEW latency_1d_fill TO latency_1d
DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    toStartOfDay(window_start) AS window_start, service, model, version, request_type, region, host, tenant, cold_start, stage,
    requests, errors, timeouts, cancelled, sum_ms, min_ms, max_ms, latency, bands, bands_ms,
    if(chunk_mark = 0, [], [chunk_mark]) AS chunk_marks
FROM chunk_rows
WHERE kind = 'stage' AND only_table IN ('', 'latency_1d');

CREATE MATERIALIZED VIEW drivers_1m_fill TO drivers_1m
DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    window_start, model, version, facet, value, requests, bands,
    if(chunk_mark = 0, [], [chunk_mark]) AS chunk_marks
FROM chunk_rows
WHERE kind = 'driver' AND only_table IN ('', 'drivers_1m');

CREATE MATERIALIZED VIEW exemplars_fill TO exemplars
DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    window_start, event_time, service, model, version, request_type, region, host, tenant, cold_start,
    status, sum_ms AS total_ms, trace_id, request_id, stages_ms,
    if(chunk_mark = 0, [], [chunk_mark]) AS chunk_marks
FROM chunk_rows
WHERE kind = 'exemplar' AND only_table IN ('', 'exemplars');
