-- Requests of all series by window, for the detector, which compares them with those that it has evaluated windows by.
-- Of events without a total, by the stage with most.
SELECT start_seconds, sum(whole) AS requests
FROM
(
    SELECT
        start_seconds,
        if(countIf(stage = 'total') > 0, sumIf(stage_requests, stage = 'total'), max(stage_requests)) AS whole
    FROM
    (
        SELECT
            toUnixTimestamp(toStartOfInterval(window_start, toIntervalSecond({windowSeconds:UInt32}))) AS start_seconds,
            service, model, version, request_type, region, host, tenant, cold_start, attributes, stage,
            sum(requests) AS stage_requests
        FROM latency_10s
        WHERE window_start >= toDateTime({fromSeconds:UInt32}, 'UTC')
          AND window_start < toDateTime({toSeconds:UInt32}, 'UTC')
          AND stage != 'inter_token_latency'
          AND NOT startsWith(stage, 'objective: ')
        GROUP BY start_seconds, service, model, version, request_type, region, host, tenant, cold_start, attributes, stage
    )
    GROUP BY start_seconds, service, model, version, request_type, region, host, tenant, cold_start, attributes
)
GROUP BY start_seconds
ORDER BY start_seconds
