-- The series that an anomaly hits, each as it stands: those that are open and have most affected requests first.
SELECT body
FROM anomalies_current
WHERE incident_id = {id:String}
ORDER BY
    state = 'resolved',
    if(kind = 'drift', requests,
        abs(JSONExtractFloat(body, 'evidence', 'exceedances') - JSONExtractFloat(body, 'evidence', 'expected')))
        / JSONExtractFloat(body, 'evidence', 'windows') DESC,
    id
LIMIT {limit:UInt32}
