-- Every event of the anomalies whose id begins so, or of the newest one that was told where it is ''.
SELECT id, body
FROM anomalies FINAL
WHERE ({id:String} != '' AND startsWith(id, {id:String}))
   OR ({id:String} = '' AND id = (SELECT argMax(id, (started_at, id)) FROM anomalies WHERE incident_id = ''))
ORDER BY id, revision
LIMIT {limit:UInt32}
