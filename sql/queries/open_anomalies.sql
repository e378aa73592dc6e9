-- Anomalies that were not resolved yet, by what was told of windows before the given one: for a
-- detector that goes on there.
SELECT body
FROM
(
    SELECT body, state, started_at
    FROM anomalies FINAL
    WHERE window_start < fromUnixTimestamp64Milli({beforeMs:Int64}, 'UTC')
    ORDER BY revision DESC
    LIMIT 1 BY id
)
WHERE state != 'resolved'
ORDER BY started_at
