-- Which chunks a table has. A server that is killed between noting an insert's token and committing
-- its part drops the same insert when it is sent again, and the table lacks the chunk for good. So
-- every part carries the mark of its chunk, in one of its rows, and what a table lacks can be sent
-- to that table alone. docs/exactly-once.md, "A server killed within an insert".
--
-- The views read the landing table, each for itself: behind another view a table cannot be filled
-- alone. They are made anew: after ALTER TABLE … MODIFY QUERY a view gives its table other tokens
-- from the next restart of the server on (seen with 26.7). No ingester may run meanwhile.
ALTER TABLE latency_10s ADD COLUMN IF NOT EXISTS chunk_marks SimpleAggregateFunction(groupUniqArrayArray, Array(UInt64)) CODEC(ZSTD(1));

ALTER TABLE latency_1m ADD COLUMN IF NOT EXISTS chunk_marks SimpleAggregateFunction(groupUniqArrayArray, Array(UInt64)) CODEC(ZSTD(1));

ALTER TABLE latency_1h ADD COLUMN IF NOT EXISTS chunk_marks SimpleAggregateFunction(groupUniqArrayArray, Array(UInt64)) CODEC(ZSTD(1));

ALTER TABLE latency_1d ADD COLUMN IF NOT EXISTS chunk_marks SimpleAggregateFunction(groupUniqArrayArray, Array(UInt64)) CODEC(ZSTD(1));

ALTER TABLE drivers_1m ADD COLUMN IF NOT EXISTS chunk_marks SimpleAggregateFunction(groupUniqArrayArray, Array(UInt64)) CODEC(ZSTD(1));

ALTER TABLE exemplars ADD COLUMN IF NOT EXISTS chunk_marks Array(UInt64) CODEC(ZSTD(1));

-- chunk_mark: on the first row of each kind and day, 0 on all others.
-- only_table: the one table that a row is for, where it was sent again; '' for all of them.
ALTER TABLE chunk_rows
    ADD COLUMN IF NOT EXISTS chunk_mark UInt64 DEFAULT 0 CODEC(ZSTD(1)) AFTER start_offset,
    ADD COLUMN IF NOT EXISTS only_table LowCardinality(String) DEFAULT '' AFTER chunk_mark;

DROP VIEW IF EXISTS latency_10s_fill SYNC;

CREATE MATERIALIZED VIEW latency_10s_fill TO latency_10s
DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    window_start, service, model, version, request_type, region, host, tenant, cold_start, stage,
    requests, errors, timeouts, cancelled, sum_ms, min_ms, max_ms, latency, bands, bands_ms,
    if(chunk_mark = 0, [], [chunk_mark]) AS chunk_marks
FROM chunk_rows
WHERE kind = 'stage' AND only_table IN ('', 'latency_10s');

DROP VIEW IF EXISTS latency_1m_fill SYNC;

CREATE MATERIALIZED VIEW latency_1m_fill TO latency_1m
DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    toStartOfMinute(window_start) AS window_start,
    service, model, version, request_type, region, host, tenant, cold_start, stage,
    sum(requests) AS requests, sum(errors) AS errors, sum(timeouts) AS timeouts, sum(cancelled) AS cancelled,
    sum(sum_ms) AS sum_ms, min(min_ms) AS min_ms, max(max_ms) AS max_ms,
    quantilesTDigestMergeState(0.5, 0.9, 0.95, 0.99, 0.999)(latency) AS latency,
    sumMap(bands) AS bands, sumMap(bands_ms) AS bands_ms,
    groupUniqArrayIf(chunk_mark, chunk_mark != 0) AS chunk_marks
FROM chunk_rows
WHERE kind = 'stage' AND only_table IN ('', 'latency_1m')
GROUP BY window_start, service, model, version, request_type, region, host, tenant, cold_start, stage;

DROP VIEW IF EXISTS latency_1h_fill SYNC;

CREATE MATERIALIZED VIEW latency_1h_fill TO latency_1h
DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    toStartOfHour(window_start) AS window_start,
    service, model, version, request_type, region, host, tenant, cold_start, stage,
    sum(requests) AS requests, sum(errors) AS errors, sum(timeouts) AS timeouts, sum(cancelled) AS cancelled,
    sum(sum_ms) AS sum_ms, min(min_ms) AS min_ms, max(max_ms) AS max_ms,
    quantilesTDigestMergeState(0.5, 0.9, 0.95, 0.99, 0.999)(latency) AS latency,
    sumMap(bands) AS bands, sumMap(bands_ms) AS bands_ms,
    groupUniqArrayIf(chunk_mark, chunk_mark != 0) AS chunk_marks
FROM chunk_rows
WHERE kind = 'stage' AND only_table IN ('', 'latency_1h')
GROUP BY window_start, service, model, version, request_type, region, host, tenant, cold_start, stage;

DROP VIEW IF EXISTS latency_1d_fill SYNC;

CREATE MATERIALIZED VIEW latency_1d_fill TO latency_1d
DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    toStartOfDay(window_start) AS window_start,
    service, model, version, request_type, region, host, tenant, cold_start, stage,
    sum(requests) AS requests, sum(errors) AS errors, sum(timeouts) AS timeouts, sum(cancelled) AS cancelled,
    sum(sum_ms) AS sum_ms, min(min_ms) AS min_ms, max(max_ms) AS max_ms,
    quantilesTDigestMergeState(0.5, 0.9, 0.95, 0.99, 0.999)(latency) AS latency,
    sumMap(bands) AS bands, sumMap(bands_ms) AS bands_ms,
    groupUniqArrayIf(chunk_mark, chunk_mark != 0) AS chunk_marks
FROM chunk_rows
WHERE kind = 'stage' AND only_table IN ('', 'latency_1d')
GROUP BY window_start, service, model, version, request_type, region, host, tenant, cold_start, stage;

DROP VIEW IF EXISTS drivers_1m_fill SYNC;

CREATE MATERIALIZED VIEW drivers_1m_fill TO drivers_1m
DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    window_start, model, version, facet, value, requests, bands,
    if(chunk_mark = 0, [], [chunk_mark]) AS chunk_marks
FROM chunk_rows
WHERE kind = 'driver' AND only_table IN ('', 'drivers_1m');

DROP VIEW IF EXISTS exemplars_fill SYNC;

CREATE MATERIALIZED VIEW exemplars_fill TO exemplars
DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    window_start, event_time, service, model, version, request_type, region, host, tenant, cold_start,
    status, sum_ms AS total_ms, trace_id, request_id, stages_ms,
    if(chunk_mark = 0, [], [chunk_mark]) AS chunk_marks
FROM chunk_rows
WHERE kind = 'exemplar' AND only_table IN ('', 'exemplars');
