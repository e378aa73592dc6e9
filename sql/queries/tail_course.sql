-- How the tail of one stage of one series went: requests and quantiles, a row a step of so many seconds.
SELECT
    intDiv(toUnixTimestamp(window_start), {stepSeconds:UInt32}) * {stepSeconds:UInt32} AS at_seconds,
    sum(requests) AS requests,
    quantilesTDigestMerge(0.5, 0.9, 0.95, 0.99, 0.999)(latency) AS q_ms
FROM {table:Identifier}
WHERE service = {service:String} AND model = {model:String} AND version = {version:String}
  AND request_type = {requestType:String} AND region = {region:String} AND host = {host:String}
  AND tenant = {tenant:String} AND cold_start = {coldStart:Bool}
  AND stage = {stage:String}
  AND window_start >= toDateTime({fromSeconds:UInt32}, 'UTC')
  AND window_start < toDateTime({toSeconds:UInt32}, 'UTC')
GROUP BY at_seconds
ORDER BY at_seconds
