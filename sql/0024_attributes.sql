-- A team's own dimensions: up to four values of an event's `attributes`, as one text of sorted pairs,
-- `adapter=lora-7,gpu=h100`; '' where none is configured or sent. It ends the keys, so rows that exist keep their
-- meaning, and ClickHouse need not sort them again. In values `%`, `,` and control characters are percent-encoded.
-- `attribute` has the values by name: WHERE attribute['adapter'] = 'lora-7'.
--
-- The views are made anew, as in 0007. No ingester may run meanwhile.
DROP VIEW IF EXISTS latency_10s_fill SYNC;

DROP VIEW IF EXISTS latency_1m_fill SYNC;

DROP VIEW IF EXISTS latency_1h_fill SYNC;

DROP VIEW IF EXISTS latency_1d_fill SYNC;

DROP VIEW IF EXISTS exemplars_fill SYNC;

ALTER TABLE latency_10s
    ADD COLUMN IF NOT EXISTS attributes LowCardinality(String) AFTER cold_start,
    ADD COLUMN IF NOT EXISTS attribute Map(String, String) ALIAS
        CAST(arrayMap(pair -> (splitByChar('=', pair)[1], decodeURLComponent(substring(pair, position(pair, '=') + 1))),
        arrayFilter(pair -> pair != '', splitByChar(',', attributes))), 'Map(String, String)') AFTER attributes,
    MODIFY ORDER BY (window_start, model, stage, version, request_type, region, service, tenant, host, cold_start, attributes);

ALTER TABLE latency_1m
    ADD COLUMN IF NOT EXISTS attributes LowCardinality(String) AFTER cold_start,
    ADD COLUMN IF NOT EXISTS attribute Map(String, String) ALIAS
        CAST(arrayMap(pair -> (splitByChar('=', pair)[1], decodeURLComponent(substring(pair, position(pair, '=') + 1))),
        arrayFilter(pair -> pair != '', splitByChar(',', attributes))), 'Map(String, String)') AFTER attributes,
    MODIFY ORDER BY (model, stage, window_start, version, request_type, region, service, tenant, host, cold_start, attributes);

ALTER TABLE latency_1h
    ADD COLUMN IF NOT EXISTS attributes LowCardinality(String) AFTER cold_start,
    ADD COLUMN IF NOT EXISTS attribute Map(String, String) ALIAS
        CAST(arrayMap(pair -> (splitByChar('=', pair)[1], decodeURLComponent(substring(pair, position(pair, '=') + 1))),
        arrayFilter(pair -> pair != '', splitByChar(',', attributes))), 'Map(String, String)') AFTER attributes,
    MODIFY ORDER BY (model, stage, window_start, version, request_type, region, service, tenant, host, cold_start, attributes);

ALTER TABLE latency_1d
    ADD COLUMN IF NOT EXISTS attributes LowCardinality(String) AFTER cold_start,
    ADD COLUMN IF NOT EXISTS attribute Map(String, String) ALIAS
        CAST(arrayMap(pair -> (splitByChar('=', pair)[1], decodeURLComponent(substring(pair, position(pair, '=') + 1))),
        arrayFilter(pair -> pair != '', splitByChar(',', attributes))), 'Map(String, String)') AFTER attributes,
    MODIFY ORDER BY (model, stage, window_start, version, request_type, region, service, tenant, host, cold_start, attributes);

-- As they are now: these create a table again that somebody has dropped. By 0001 it would lack the end of the key.
CREATE TABLE IF NOT EXISTS latency_1m AS latency_10s
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMMDD(window_start)
PRIMARY KEY (model, stage, window_start, version, request_type, region, service, tenant, host, cold_start)
ORDER BY (model, stage, window_start, version, request_type, region, service, tenant, host, cold_start, attributes)
SETTINGS non_replicated_deduplication_window = 100000, ttl_only_drop_parts = 1;

ALTER TABLE latency_1m MODIFY SETTING min_bytes_for_wide_part = 268435456;

CREATE TABLE IF NOT EXISTS latency_1h AS latency_10s
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(window_start)
PRIMARY KEY (model, stage, window_start, version, request_type, region, service, tenant, host, cold_start)
ORDER BY (model, stage, window_start, version, request_type, region, service, tenant, host, cold_start, attributes)
SETTINGS non_replicated_deduplication_window = 100000, ttl_only_drop_parts = 1;

ALTER TABLE latency_1h MODIFY SETTING min_bytes_for_wide_part = 268435456;

CREATE TABLE IF NOT EXISTS latency_1d AS latency_10s
ENGINE = AggregatingMergeTree
PARTITION BY toYear(window_start)
PRIMARY KEY (model, stage, window_start, version, request_type, region, service, tenant, host, cold_start)
ORDER BY (model, stage, window_start, version, request_type, region, service, tenant, host, cold_start, attributes)
SETTINGS non_replicated_deduplication_window = 100000, ttl_only_drop_parts = 1;

ALTER TABLE latency_1d MODIFY SETTING min_bytes_for_wide_part = 268435456;

ALTER TABLE exemplars
    ADD COLUMN IF NOT EXISTS attributes LowCardinality(String) AFTER cold_start,
    ADD COLUMN IF NOT EXISTS attribute Map(String, String) ALIAS
        CAST(arrayMap(pair -> (splitByChar('=', pair)[1], decodeURLComponent(substring(pair, position(pair, '=') + 1))),
        arrayFilter(pair -> pair != '', splitByChar(',', attributes))), 'Map(String, String)') AFTER attributes;

ALTER TABLE anomalies
    ADD COLUMN IF NOT EXISTS attributes LowCardinality(String) AFTER cold_start,
    ADD COLUMN IF NOT EXISTS attribute Map(String, String) ALIAS
        CAST(arrayMap(pair -> (splitByChar('=', pair)[1], decodeURLComponent(substring(pair, position(pair, '=') + 1))),
        arrayFilter(pair -> pair != '', splitByChar(',', attributes))), 'Map(String, String)') AFTER attributes;

DROP VIEW IF EXISTS anomalies_current SYNC;

CREATE VIEW anomalies_current AS
SELECT * FROM anomalies FINAL ORDER BY revision DESC LIMIT 1 BY id;

ALTER TABLE chunk_rows ADD COLUMN IF NOT EXISTS attributes LowCardinality(String) AFTER cold_start;

CREATE MATERIALIZED VIEW latency_10s_fill TO latency_10s
DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    window_start,
    service, model, version, request_type, region, host, tenant, cold_start, attributes, stage,
    requests, errors, timeouts, cancelled, sum_ms, min_ms, max_ms, latency, bands, bands_ms,
    if(chunk_mark = 0, [], [chunk_mark]) AS chunk_marks
FROM chunk_rows
WHERE kind = 'stage' AND only_table IN ('', 'latency_10s');

CREATE MATERIALIZED VIEW latency_1m_fill TO latency_1m
DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    toStartOfMinute(window_start) AS window_start,
    service, model, version, request_type, region, host, tenant, cold_start, attributes, stage,
    requests, errors, timeouts, cancelled, sum_ms, min_ms, max_ms, latency, bands, bands_ms,
    if(chunk_mark = 0, [], [chunk_mark]) AS chunk_marks
FROM chunk_rows
WHERE kind = 'stage' AND only_table IN ('', 'latency_1m');

CREATE MATERIALIZED VIEW latency_1h_fill TO latency_1h
DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    toStartOfHour(window_start) AS window_start,
    service, model, version, request_type, region, host, tenant, cold_start, attributes, stage,
    requests, errors, timeouts, cancelled, sum_ms, min_ms, max_ms, latency, bands, bands_ms,
    if(chunk_mark = 0, [], [chunk_mark]) AS chunk_marks
FROM chunk_rows
WHERE kind = 'stage' AND only_table IN ('', 'latency_1h');

CREATE MATERIALIZED VIEW latency_1d_fill TO latency_1d
DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    toStartOfDay(window_start) AS window_start,
    service, model, version, request_type, region, host, tenant, cold_start, attributes, stage,
    requests, errors, timeouts, cancelled, sum_ms, min_ms, max_ms, latency, bands, bands_ms,
    if(chunk_mark = 0, [], [chunk_mark]) AS chunk_marks
FROM chunk_rows
WHERE kind = 'stage' AND only_table IN ('', 'latency_1d');

CREATE MATERIALIZED VIEW exemplars_fill TO exemplars
DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    window_start, event_time, service, model, version, request_type, region, host, tenant, cold_start, attributes,
    status, sum_ms AS total_ms, trace_id, request_id, stages_ms,
    if(chunk_mark = 0, [], [chunk_mark]) AS chunk_marks
FROM chunk_rows
WHERE kind = 'exemplar' AND only_table IN ('', 'exemplars');

CREATE OR REPLACE VIEW tails_10s AS
SELECT
    window_start, service, model, version, request_type, region, host, tenant, cold_start, attributes, stage,
    sum(l.requests) AS requests, sum(l.errors) AS errors, sum(l.timeouts) AS timeouts, sum(l.cancelled) AS cancelled,
    sum(l.sum_ms) / sum(l.requests) AS mean_ms, min(l.min_ms) AS min_ms, max(l.max_ms) AS max_ms,
    quantilesTDigestMerge(0.5, 0.9, 0.95, 0.99, 0.999)(l.latency) AS q,
    q[1] AS p50_ms, q[2] AS p90_ms, q[3] AS p95_ms, q[4] AS p99_ms, q[5] AS p999_ms,
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
    any(l.attribute) AS attribute
FROM latency_1d AS l
GROUP BY window_start, service, model, version, request_type, region, host, tenant, cold_start, attributes, stage;
