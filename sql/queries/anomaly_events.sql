-- Every event of the anomalies whose id begins so. Where it is '': of the most severe open one, else of the newest.
SELECT id, body
FROM anomalies FINAL
WHERE ({id:String} != '' AND startsWith(id, {id:String}))
   OR ({id:String} = '' AND id = (
       SELECT id FROM anomalies_current WHERE incident_id = ''
       ORDER BY state = 'resolved', if(state = 'resolved', 0, indexOf(['critical', 'warning', 'info'], severity)), started_at DESC, id DESC
       LIMIT 1))
ORDER BY id, revision
LIMIT {limit:UInt32}
