-- How one stage of one series went, or of all series of a model: requests, those that failed and cold ones, and quantiles,
-- a row a step of so many seconds.
SELECT
    intDiv(toUnixTimestamp(window_start), {stepSeconds:UInt32}) * {stepSeconds:UInt32} AS at_seconds,
    sum(timeline.requests) AS requests,
    sum(errors) + sum(timeouts) AS failed,
    sumIf(timeline.requests, timeline.cold_start) AS cold_starts,
    quantilesTDigestMerge(0.5, 0.9, 0.95, 0.99, 0.999)(latency) AS q_ms
FROM {table:Identifier} AS timeline
WHERE ({model:String} = '' OR model = {model:String})
  AND ({requestType:String} = '' AND {whole:Bool} OR request_type = {requestType:String})
  AND ({whole:Bool}
    OR service = {service:String} AND region = {region:String}
    AND ({anyVersion:Bool} OR version = {version:String})
    AND host = {host:String} AND tenant = {tenant:String} AND attributes = {attributes:String}
    AND ({anyStart:Bool} OR cold_start = {coldStart:Bool}))
  AND stage = {stage:String}
  AND window_start >= toDateTime({fromSeconds:UInt32}, 'UTC')
  AND window_start < toDateTime({toSeconds:UInt32}, 'UTC')
GROUP BY at_seconds
ORDER BY at_seconds
