-- The slowest requests of a series over a range.
SELECT trace_id, request_id, total_ms, status, host, stages_ms, toUnixTimestamp64Milli(event_time) AS event_ms
FROM exemplars
WHERE model = {model:String}
  AND ({version:String} = '' OR version = {version:String})
  AND ({requestType:String} = '' OR request_type = {requestType:String})
  AND ({region:String} = '' OR region = {region:String})
  AND cold_start = {coldStart:Bool}
  AND window_start >= toDateTime({fromSeconds:UInt32}, 'UTC')
  AND window_start < toDateTime({toSeconds:UInt32}, 'UTC')
ORDER BY total_ms DESC
LIMIT {limit:UInt32}
