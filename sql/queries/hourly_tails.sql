-- How long the requests of every series took, all its versions together, hour by hour: for slow drift. Answered in
-- RowBinary: see src/watch/read-hours.ts.
SELECT
    toUnixTimestamp(toStartOfHour(window_start)) AS hour,
    service, model, request_type, region, host, tenant, cold_start, stage,
    sum(hours.requests), sum(hours.sum_ms),
    quantilesTDigestMergeState(0.5, 0.9, 0.95, 0.99, 0.999)(hours.latency)
FROM latency_1h AS hours
WHERE window_start >= toDateTime({fromSeconds:UInt32}, 'UTC') AND window_start < toDateTime({toSeconds:UInt32}, 'UTC')
GROUP BY hour, service, model, request_type, region, host, tenant, cold_start, stage
ORDER BY hour, service, model, request_type, region, host, tenant, cold_start, stage
FORMAT RowBinary
