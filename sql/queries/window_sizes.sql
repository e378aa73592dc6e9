-- How many stages of series some windows have: what it costs to evaluate them.
SELECT toUnixTimestamp(toStartOfInterval(window_start, toIntervalSecond({windowSeconds:UInt32}))) AS start,
    uniqExact(service, model, version, request_type, region, host, tenant, cold_start, attributes, stage) AS stages
FROM latency_10s
WHERE window_start IN (SELECT toDateTime(arrayJoin({starts:Array(UInt32)}), 'UTC'))
  AND stage != 'inter_token_latency'
GROUP BY start
ORDER BY start
