-- Requests of one series in a range by the band of their total.
SELECT sumMap(bands) AS by_band
FROM latency_1m
WHERE service = {service:String} AND model = {model:String} AND version = {version:String}
  AND request_type = {requestType:String} AND region = {region:String} AND host = {host:String}
  AND tenant = {tenant:String} AND cold_start = {coldStart:Bool}
  AND stage = 'total'
  AND window_start >= toDateTime({fromSeconds:UInt32}, 'UTC')
  AND window_start < toDateTime({toSeconds:UInt32}, 'UTC')
