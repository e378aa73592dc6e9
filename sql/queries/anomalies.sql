-- Anomalies as they stand: open ones first, the most severe before others, then the newest. One that hits several series is one, listed for the model of each.
SELECT body
FROM anomalies_current
WHERE started_at >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
  AND incident_id = ''
  AND ({model:String} = '' OR model = {model:String}
      OR id IN (SELECT incident_id FROM anomalies_current WHERE model = {model:String} AND incident_id != ''))
  AND ({state:String} = '' OR ({state:String} = 'open' AND state != 'resolved') OR state = {state:String})
ORDER BY state = 'resolved', if(state = 'resolved', 0, indexOf(['critical', 'warning', 'info'], severity)), started_at DESC
LIMIT {limit:UInt32}
