-- The series that an anomaly hits, each as it stands: those that are open and worst first.
SELECT body
FROM anomalies_current
WHERE incident_id = {id:String}
ORDER BY state = 'resolved', ratio DESC, id
LIMIT {limit:UInt32}
