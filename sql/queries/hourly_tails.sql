-- How long the requests of series took, all versions of each together, hour by hour: for slow drift. Of so many series:
-- those with the most requests in a range of their own. In RowBinary: see src/sink/windows/read-hours.ts.
SELECT
    toUnixTimestamp(toStartOfHour(window_start)) AS hour,
    service, model, request_type, region, host, tenant, cold_start, attributes, stage,
    sum(hours.requests), sum(hours.sum_ms),
    quantilesTDigestMergeState(0.5, 0.9, 0.95, 0.99, 0.999)(hours.latency)
FROM latency_1h AS hours
WHERE window_start >= toDateTime({fromSeconds:UInt32}, 'UTC') AND window_start < toDateTime({toSeconds:UInt32}, 'UTC')
  AND stage != 'inter_token_latency' AND NOT startsWith(stage, 'objective: ')
  AND (service, model, request_type, region, host, tenant, cold_start, attributes) IN
(
    SELECT service, model, request_type, region, host, tenant, cold_start, attributes
    FROM latency_1h
    WHERE window_start >= toDateTime({rankedFromSeconds:UInt32}, 'UTC')
      AND window_start < toDateTime({rankedToSeconds:UInt32}, 'UTC')
      AND stage != 'inter_token_latency' AND NOT startsWith(stage, 'objective: ')
    GROUP BY service, model, request_type, region, host, tenant, cold_start, attributes
    ORDER BY sum(requests) DESC, service, model, request_type, region, host, tenant, cold_start, attributes
    LIMIT {seriesLimit:UInt32}
)
GROUP BY hour, service, model, request_type, region, host, tenant, cold_start, attributes, stage
ORDER BY hour, service, model, request_type, region, host, tenant, cold_start, attributes, stage
FORMAT RowBinary
