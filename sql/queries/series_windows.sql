-- Windows of all series, for the detector: without the gaps between tokens, which are no requests. Answered in RowBinary:
-- see src/sink/windows/window-decoder.ts.
-- Run with optimize_aggregation_in_order = 1 (in the order of the table, so that ClickHouse merges one series after
-- the other instead of all at once) and max_threads = 1 (two take twice the CPU time here, and the detector, which is
-- slower than either, has the other core). Neither changes the rows; a user of readonly = 1 may not set them.
SELECT
    toStartOfInterval(window_start, toIntervalSecond({windowSeconds:UInt32})) AS start,
    service, model, version, request_type, region, host, tenant, cold_start, attributes, stage,
    sum(l.requests), sum(l.errors), sum(l.timeouts), sum(l.cancelled),
    sum(l.sum_ms), min(l.min_ms), max(l.max_ms),
    quantilesTDigestMergeState(0.5, 0.9, 0.95, 0.99, 0.999)(l.latency),
    sumMap(l.bands), sumMap(l.bands_ms)
FROM latency_10s AS l
WHERE window_start >= toDateTime({fromSeconds:UInt32}, 'UTC') AND window_start < toDateTime({toSeconds:UInt32}, 'UTC')
  AND stage != 'inter_token_latency'
GROUP BY start, service, model, version, request_type, region, host, tenant, cold_start, attributes, stage
ORDER BY start, service, model, version, request_type, region, host, tenant, cold_start, attributes, stage
FORMAT RowBinary
