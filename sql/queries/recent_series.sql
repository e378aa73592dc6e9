-- How many series have had requests in the last ten minutes, for `tailmark doctor`.
SELECT uniqExact(service, model, version, request_type, region, host, tenant, cold_start, attributes) AS series
FROM latency_10s
WHERE window_start >= now() - toIntervalMinute(10)
