-- Anomalies that were not resolved yet, by what was told of windows before the given one, and the last rows
-- of all series that are part of one: for a detector that goes on there.
WITH last_events AS
(
    SELECT id, incident_id, body, state, started_at
    FROM anomalies FINAL
    WHERE window_start < fromUnixTimestamp64Milli({beforeMs:Int64}, 'UTC')
    ORDER BY revision DESC
    LIMIT 1 BY id
)
SELECT body
FROM last_events
WHERE if(incident_id = '', id, incident_id) IN
      (SELECT id FROM last_events WHERE state != 'resolved' AND incident_id = '')
ORDER BY started_at, id
