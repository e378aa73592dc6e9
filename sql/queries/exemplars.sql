-- The slowest requests of a series over a range: by the time in one stage ({stage:String}, or what no stage measured), those
-- that failed after the others, or by their total. Of failures ({kind:String}) those that failed come first.
SELECT trace_id, request_id, total_ms, status, host, stages_ms, toUnixTimestamp64Milli(event_time) AS event_ms
FROM exemplars
WHERE model = {model:String}
  AND ({version:String} = '' OR version = {version:String})
  AND ({requestType:String} = '' OR request_type = {requestType:String})
  AND ({region:String} = '' OR region = {region:String})
  AND ({attributes:String} = '' OR attributes = {attributes:String})
  AND cold_start = {coldStart:Bool}
  AND window_start >= toDateTime({fromSeconds:UInt32}, 'UTC')
  AND window_start < toDateTime({toSeconds:UInt32}, 'UTC')
ORDER BY
    if({kind:String} = 'error_rate',
        status NOT IN ('error', 'timeout'),
        {stage:String} != '' AND status IN ('error', 'timeout')),
    multiIf(
        {stage:String} IN ('', 'total'), total_ms,
        {stage:String} = 'unaccounted', total_ms - arraySum(mapValues(mapFilter((name, ms) -> NOT startsWith(name, 'size: '), stages_ms))),
        stages_ms[{stage:String}]) DESC,
    total_ms DESC
LIMIT {limit:UInt32}
