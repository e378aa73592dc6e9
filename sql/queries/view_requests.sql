-- The slowest requests that are kept, of a model over a range, with their stages.
SELECT
    toUnixTimestamp64Milli(event_time) AS at_ms,
    total_ms,
    status,
    version,
    request_type,
    region,
    host,
    cold_start,
    trace_id,
    request_id,
    stages_ms
FROM exemplars
WHERE model = {model:String}
  AND window_start >= toDateTime({fromSeconds:UInt32}, 'UTC')
  AND window_start < toDateTime({toSeconds:UInt32}, 'UTC')
  AND ({version:String} = '' OR version = {version:String})
  AND ({region:String} = '' OR region = {region:String})
  AND ({requestType:String} = '' OR request_type = {requestType:String})
  AND ({coldStart:String} = '' OR cold_start = ({coldStart:String} = 'true'))
ORDER BY total_ms DESC, event_time, trace_id, request_id
LIMIT {limit:UInt32}
