-- Anomalies as they stand, newest first.
SELECT body
FROM anomalies_current
WHERE started_at >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
  AND ({model:String} = '' OR model = {model:String})
  AND ({state:String} = '' OR ({state:String} = 'open' AND state != 'resolved') OR state = {state:String})
ORDER BY started_at DESC
LIMIT {limit:UInt32}
