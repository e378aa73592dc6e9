-- Ready percentiles, in milliseconds: SELECT * FROM tails_1m WHERE model = 'ranker' AND stage = 'total'

CREATE VIEW tails_10s AS
SELECT
    window_start, service, model, version, request_type, region, host, tenant, cold_start, stage,
    sum(l.requests) AS requests, sum(l.errors) AS errors, sum(l.timeouts) AS timeouts, sum(l.cancelled) AS cancelled,
    sum(l.sum_ms) / sum(l.requests) AS mean_ms, min(l.min_ms) AS min_ms, max(l.max_ms) AS max_ms,
    quantilesTDigestMerge(0.5, 0.9, 0.95, 0.99, 0.999)(l.latency) AS q,
    q[1] AS p50_ms, q[2] AS p90_ms, q[3] AS p95_ms, q[4] AS p99_ms, q[5] AS p999_ms
FROM latency_10s AS l
GROUP BY window_start, service, model, version, request_type, region, host, tenant, cold_start, stage;

CREATE VIEW tails_1m AS
SELECT
    window_start, service, model, version, request_type, region, host, tenant, cold_start, stage,
    sum(l.requests) AS requests, sum(l.errors) AS errors, sum(l.timeouts) AS timeouts, sum(l.cancelled) AS cancelled,
    sum(l.sum_ms) / sum(l.requests) AS mean_ms, min(l.min_ms) AS min_ms, max(l.max_ms) AS max_ms,
    quantilesTDigestMerge(0.5, 0.9, 0.95, 0.99, 0.999)(l.latency) AS q,
    q[1] AS p50_ms, q[2] AS p90_ms, q[3] AS p95_ms, q[4] AS p99_ms, q[5] AS p999_ms
FROM latency_1m AS l
GROUP BY window_start, service, model, version, request_type, region, host, tenant, cold_start, stage;

CREATE VIEW tails_1h AS
SELECT
    window_start, service, model, version, request_type, region, host, tenant, cold_start, stage,
    sum(l.requests) AS requests, sum(l.errors) AS errors, sum(l.timeouts) AS timeouts, sum(l.cancelled) AS cancelled,
    sum(l.sum_ms) / sum(l.requests) AS mean_ms, min(l.min_ms) AS min_ms, max(l.max_ms) AS max_ms,
    quantilesTDigestMerge(0.5, 0.9, 0.95, 0.99, 0.999)(l.latency) AS q,
    q[1] AS p50_ms, q[2] AS p90_ms, q[3] AS p95_ms, q[4] AS p99_ms, q[5] AS p999_ms
FROM latency_1h AS l
GROUP BY window_start, service, model, version, request_type, region, host, tenant, cold_start, stage;

CREATE VIEW tails_1d AS
SELECT
    window_start, service, model, version, request_type, region, host, tenant, cold_start, stage,
    sum(l.requests) AS requests, sum(l.errors) AS errors, sum(l.timeouts) AS timeouts, sum(l.cancelled) AS cancelled,
    sum(l.sum_ms) / sum(l.requests) AS mean_ms, min(l.min_ms) AS min_ms, max(l.max_ms) AS max_ms,
    quantilesTDigestMerge(0.5, 0.9, 0.95, 0.99, 0.999)(l.latency) AS q,
    q[1] AS p50_ms, q[2] AS p90_ms, q[3] AS p95_ms, q[4] AS p99_ms, q[5] AS p999_ms
FROM latency_1d AS l
GROUP BY window_start, service, model, version, request_type, region, host, tenant, cold_start, stage;
