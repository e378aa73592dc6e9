-- First minute from a time on in which a version of a model, or any, has requests; no row where it has none.
SELECT toUnixTimestamp(min(window_start)) AS first_seconds
FROM latency_1m
WHERE model = {model:String}
  AND ({anyVersion:Bool} OR version = {version:String})
  AND window_start >= toDateTime({fromSeconds:UInt32}, 'UTC')
HAVING count() > 0
