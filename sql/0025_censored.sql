-- Requests that were given up (status timeout or cancelled) would have lasted longer: their duration is a lower
-- bound. These columns say how many of a row's requests are such, and hold the digest of their durations, which
-- are in `latency` too. Rows from before have none: nothing is known of theirs.
--
-- Of a request they are its total and the part in which it was given up: docs/explained/given-up.md.
ALTER TABLE latency_10s
    ADD COLUMN IF NOT EXISTS censored SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1)),
    ADD COLUMN IF NOT EXISTS censored_latency AggregateFunction(quantilesTDigest(0.5, 0.9, 0.95, 0.99, 0.999), Float32) CODEC(ZSTD(1));

ALTER TABLE latency_1m
    ADD COLUMN IF NOT EXISTS censored SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1)),
    ADD COLUMN IF NOT EXISTS censored_latency AggregateFunction(quantilesTDigest(0.5, 0.9, 0.95, 0.99, 0.999), Float32) CODEC(ZSTD(1));

ALTER TABLE latency_1h
    ADD COLUMN IF NOT EXISTS censored SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1)),
    ADD COLUMN IF NOT EXISTS censored_latency AggregateFunction(quantilesTDigest(0.5, 0.9, 0.95, 0.99, 0.999), Float32) CODEC(ZSTD(1));

ALTER TABLE latency_1d
    ADD COLUMN IF NOT EXISTS censored SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1)),
    ADD COLUMN IF NOT EXISTS censored_latency AggregateFunction(quantilesTDigest(0.5, 0.9, 0.95, 0.99, 0.999), Float32) CODEC(ZSTD(1));

ALTER TABLE chunk_rows
    ADD COLUMN IF NOT EXISTS censored UInt64 AFTER bands_ms,
    ADD COLUMN IF NOT EXISTS censored_latency AggregateFunction(quantilesTDigest(0.5, 0.9, 0.95, 0.99, 0.999), Float32) AFTER censored;

-- The views are made anew, as in 0024_attributes.sql.
DROP VIEW IF EXISTS latency_10s_fill SYNC;

CREATE MATERIALIZED VIEW latency_10s_fill TO latency_10s
DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    window_start, service, model, version, request_type, region, host, tenant, cold_start, attributes, stage,
    requests, errors, timeouts, cancelled, sum_ms, min_ms, max_ms, latency, bands, bands_ms, censored, censored_latency,
    if(chunk_mark = 0, [], [chunk_mark]) AS chunk_marks
FROM chunk_rows
WHERE kind = 'stage' AND only_table IN ('', 'latency_10s');

DROP VIEW IF EXISTS latency_1m_fill SYNC;

CREATE MATERIALIZED VIEW latency_1m_fill TO latency_1m
DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    toStartOfMinute(window_start) AS window_start, service, model, version, request_type, region, host, tenant, cold_start, attributes, stage,
    requests, errors, timeouts, cancelled, sum_ms, min_ms, max_ms, latency, bands, bands_ms, censored, censored_latency,
    if(chunk_mark = 0, [], [chunk_mark]) AS chunk_marks
FROM chunk_rows
WHERE kind = 'stage' AND only_table IN ('', 'latency_1m');

DROP VIEW IF EXISTS latency_1h_fill SYNC;

CREATE MATERIALIZED VIEW latency_1h_fill TO latency_1h
DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    toStartOfHour(window_start) AS window_start, service, model, version, request_type, region, host, tenant, cold_start, attributes, stage,
    requests, errors, timeouts, cancelled, sum_ms, min_ms, max_ms, latency, bands, bands_ms, censored, censored_latency,
    if(chunk_mark = 0, [], [chunk_mark]) AS chunk_marks
FROM chunk_rows
WHERE kind = 'stage' AND only_table IN ('', 'latency_1h');

DROP VIEW IF EXISTS latency_1d_fill SYNC;

CREATE MATERIALIZED VIEW latency_1d_fill TO latency_1d
DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    toStartOfDay(window_start) AS window_start, service, model, version, request_type, region, host, tenant, cold_start, attributes, stage,
    requests, errors, timeouts, cancelled, sum_ms, min_ms, max_ms, latency, bands, bands_ms, censored, censored_latency,
    if(chunk_mark = 0, [], [chunk_mark]) AS chunk_marks
FROM chunk_rows
WHERE kind = 'stage' AND only_table IN ('', 'latency_1d');

-- Percentiles count every duration as it is. One from at_least_from_ms on is a lower bound: requests that were given
-- up before it would have been slower. That is the shortest time at which one was given up, less the rounding of a
-- digest (eight bits); NULL where none was.
CREATE OR REPLACE VIEW tails_10s AS
SELECT
    window_start, service, model, version, request_type, region, host, tenant, cold_start, attributes, stage,
    sum(l.requests) AS requests, sum(l.errors) AS errors, sum(l.timeouts) AS timeouts, sum(l.cancelled) AS cancelled,
    sum(l.sum_ms) / sum(l.requests) AS mean_ms, min(l.min_ms) AS min_ms, max(l.max_ms) AS max_ms,
    quantilesTDigestMerge(0.5, 0.9, 0.95, 0.99, 0.999)(l.latency) AS q,
    q[1] AS p50_ms, q[2] AS p90_ms, q[3] AS p95_ms, q[4] AS p99_ms, q[5] AS p999_ms,
    sum(l.censored) AS censored,
    if(censored = 0, NULL, quantilesTDigestMerge(0)(l.censored_latency)[1] * 255 / 256) AS at_least_from_ms,
    any(l.attribute) AS attribute
FROM latency_10s AS l
GROUP BY window_start, service, model, version, request_type, region, host, tenant, cold_start, attributes, stage;

CREATE OR REPLACE VIEW tails_1m AS
SELECT
    window_start, service, model, version, request_type, region, host, tenant, cold_start, attributes, stage,
    sum(l.requests) AS requests, sum(l.errors) AS errors, sum(l.timeouts) AS timeouts, sum(l.cancelled) AS cancelled,
    sum(l.sum_ms) / sum(l.requests) AS mean_ms, min(l.min_ms) AS min_ms, max(l.max_ms) AS max_ms,
    quantilesTDigestMerge(0.5, 0.9, 0.95, 0.99, 0.999)(l.latency) AS q,
    q[1] AS p50_ms, q[2] AS p90_ms, q[3] AS p95_ms, q[4] AS p99_ms, q[5] AS p999_ms,
    sum(l.censored) AS censored,
    if(censored = 0, NULL, quantilesTDigestMerge(0)(l.censored_latency)[1] * 255 / 256) AS at_least_from_ms,
    any(l.attribute) AS attribute
FROM latency_1m AS l
GROUP BY window_start, service, model, version, request_type, region, host, tenant, cold_start, attributes, stage;

CREATE OR REPLACE VIEW tails_1h AS
SELECT
    window_start, service, model, version, request_type, region, host, tenant, cold_start, attributes, stage,
    sum(l.requests) AS requests, sum(l.errors) AS errors, sum(l.timeouts) AS timeouts, sum(l.cancelled) AS cancelled,
    sum(l.sum_ms) / sum(l.requests) AS mean_ms, min(l.min_ms) AS min_ms, max(l.max_ms) AS max_ms,
    quantilesTDigestMerge(0.5, 0.9, 0.95, 0.99, 0.999)(l.latency) AS q,
    q[1] AS p50_ms, q[2] AS p90_ms, q[3] AS p95_ms, q[4] AS p99_ms, q[5] AS p999_ms,
    sum(l.censored) AS censored,
    if(censored = 0, NULL, quantilesTDigestMerge(0)(l.censored_latency)[1] * 255 / 256) AS at_least_from_ms,
    any(l.attribute) AS attribute
FROM latency_1h AS l
GROUP BY window_start, service, model, version, request_type, region, host, tenant, cold_start, attributes, stage;

CREATE OR REPLACE VIEW tails_1d AS
SELECT
    window_start, service, model, version, request_type, region, host, tenant, cold_start, attributes, stage,
    sum(l.requests) AS requests, sum(l.errors) AS errors, sum(l.timeouts) AS timeouts, sum(l.cancelled) AS cancelled,
    sum(l.sum_ms) / sum(l.requests) AS mean_ms, min(l.min_ms) AS min_ms, max(l.max_ms) AS max_ms,
    quantilesTDigestMerge(0.5, 0.9, 0.95, 0.99, 0.999)(l.latency) AS q,
    q[1] AS p50_ms, q[2] AS p90_ms, q[3] AS p95_ms, q[4] AS p99_ms, q[5] AS p999_ms,
    sum(l.censored) AS censored,
    if(censored = 0, NULL, quantilesTDigestMerge(0)(l.censored_latency)[1] * 255 / 256) AS at_least_from_ms,
    any(l.attribute) AS attribute
FROM latency_1d AS l
GROUP BY window_start, service, model, version, request_type, region, host, tenant, cold_start, attributes, stage;
