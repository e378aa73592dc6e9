-- Of a row with requests that were given up, the digest of the durations of those that ended (ended_latency). Both kinds are
-- in `latency`, where one centroid may hold some of either. Rows without any need none: `latency` is theirs. So the two
-- kinds of row must not be merged into one, and has_censored ends the keys. Rows that exist are without it, and without
-- the digest: what was given up of theirs is subtracted from `latency`, as before.
ALTER TABLE latency_10s
    ADD COLUMN IF NOT EXISTS has_censored Bool AFTER attribute,
    ADD COLUMN IF NOT EXISTS ended_latency AggregateFunction(quantilesTDigest(0.5, 0.9, 0.95, 0.99, 0.999), Float32) CODEC(ZSTD(1)),
    MODIFY ORDER BY (window_start, model, stage, version, request_type, region, service, tenant, host, cold_start, attributes, has_censored);

ALTER TABLE latency_1m
    ADD COLUMN IF NOT EXISTS has_censored Bool AFTER attribute,
    ADD COLUMN IF NOT EXISTS ended_latency AggregateFunction(quantilesTDigest(0.5, 0.9, 0.95, 0.99, 0.999), Float32) CODEC(ZSTD(1)),
    MODIFY ORDER BY (model, stage, window_start, version, request_type, region, service, tenant, host, cold_start, attributes, has_censored);

ALTER TABLE latency_1h
    ADD COLUMN IF NOT EXISTS has_censored Bool AFTER attribute,
    ADD COLUMN IF NOT EXISTS ended_latency AggregateFunction(quantilesTDigest(0.5, 0.9, 0.95, 0.99, 0.999), Float32) CODEC(ZSTD(1)),
    MODIFY ORDER BY (model, stage, window_start, version, request_type, region, service, tenant, host, cold_start, attributes, has_censored);

ALTER TABLE latency_1d
    ADD COLUMN IF NOT EXISTS has_censored Bool AFTER attribute,
    ADD COLUMN IF NOT EXISTS ended_latency AggregateFunction(quantilesTDigest(0.5, 0.9, 0.95, 0.99, 0.999), Float32) CODEC(ZSTD(1)),
    MODIFY ORDER BY (model, stage, window_start, version, request_type, region, service, tenant, host, cold_start, attributes, has_censored);

-- As they are now: these create a table again that somebody has dropped, as in 0024_attributes.sql.
CREATE TABLE IF NOT EXISTS latency_1m AS latency_10s
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMMDD(window_start)
PRIMARY KEY (model, stage, window_start, version, request_type, region, service, tenant, host, cold_start)
ORDER BY (model, stage, window_start, version, request_type, region, service, tenant, host, cold_start, attributes, has_censored)
SETTINGS non_replicated_deduplication_window = 100000, ttl_only_drop_parts = 1;

ALTER TABLE latency_1m MODIFY SETTING min_bytes_for_wide_part = 268435456;

CREATE TABLE IF NOT EXISTS latency_1h AS latency_10s
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(window_start)
PRIMARY KEY (model, stage, window_start, version, request_type, region, service, tenant, host, cold_start)
ORDER BY (model, stage, window_start, version, request_type, region, service, tenant, host, cold_start, attributes, has_censored)
SETTINGS non_replicated_deduplication_window = 100000, ttl_only_drop_parts = 1;

ALTER TABLE latency_1h MODIFY SETTING min_bytes_for_wide_part = 268435456;

CREATE TABLE IF NOT EXISTS latency_1d AS latency_10s
ENGINE = AggregatingMergeTree
PARTITION BY toYear(window_start)
PRIMARY KEY (model, stage, window_start, version, request_type, region, service, tenant, host, cold_start)
ORDER BY (model, stage, window_start, version, request_type, region, service, tenant, host, cold_start, attributes, has_censored)
SETTINGS non_replicated_deduplication_window = 100000, ttl_only_drop_parts = 1;

ALTER TABLE latency_1d MODIFY SETTING min_bytes_for_wide_part = 268435456;

ALTER TABLE chunk_rows
    ADD COLUMN IF NOT EXISTS ended_latency AggregateFunction(quantilesTDigest(0.5, 0.9, 0.95, 0.99, 0.999), Float32) AFTER censored_latency;

DROP VIEW IF EXISTS latency_10s_fill SYNC;

CREATE MATERIALIZED VIEW latency_10s_fill TO latency_10s
DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    window_start, service, model, version, request_type, region, host, tenant, cold_start, attributes,
    censored > 0 AS has_censored, stage, requests, errors, timeouts, cancelled, sum_ms, min_ms, max_ms, latency,
    bands, bands_ms, censored, censored_latency, ended_latency,
    if(chunk_mark = 0, [], [chunk_mark]) AS chunk_marks
FROM chunk_rows
WHERE kind = 'stage' AND only_table IN ('', 'latency_10s');

DROP VIEW IF EXISTS latency_1m_fill SYNC;

CREATE MATERIALIZED VIEW latency_1m_fill TO latency_1m
DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    toStartOfMinute(window_start) AS window_start, service, model, version, request_type, region, host, tenant, cold_start, attributes,
    censored > 0 AS has_censored, stage, requests, errors, timeouts, cancelled, sum_ms, min_ms, max_ms, latency,
    bands, bands_ms, censored, censored_latency, ended_latency,
    if(chunk_mark = 0, [], [chunk_mark]) AS chunk_marks
FROM chunk_rows
WHERE kind = 'stage' AND only_table IN ('', 'latency_1m');

DROP VIEW IF EXISTS latency_1h_fill SYNC;

CREATE MATERIALIZED VIEW latency_1h_fill TO latency_1h
DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    toStartOfHour(window_start) AS window_start, service, model, version, request_type, region, host, tenant, cold_start, attributes,
    censored > 0 AS has_censored, stage, requests, errors, timeouts, cancelled, sum_ms, min_ms, max_ms, latency,
    bands, bands_ms, censored, censored_latency, ended_latency,
    if(chunk_mark = 0, [], [chunk_mark]) AS chunk_marks
FROM chunk_rows
WHERE kind = 'stage' AND only_table IN ('', 'latency_1h');

DROP VIEW IF EXISTS latency_1d_fill SYNC;

CREATE MATERIALIZED VIEW latency_1d_fill TO latency_1d
DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    toStartOfDay(window_start) AS window_start, service, model, version, request_type, region, host, tenant, cold_start, attributes,
    censored > 0 AS has_censored, stage, requests, errors, timeouts, cancelled, sum_ms, min_ms, max_ms, latency,
    bands, bands_ms, censored, censored_latency, ended_latency,
    if(chunk_mark = 0, [], [chunk_mark]) AS chunk_marks
FROM chunk_rows
WHERE kind = 'stage' AND only_table IN ('', 'latency_1d');
