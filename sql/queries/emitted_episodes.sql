-- Anomalies that were emitted and are open, or were resolved in a window of that time or later, with the window that
-- resolved each (0 while it is open). Series of an anomaly of several are rows of their own.
SELECT
    id,
    dedup_key,
    if(state = 'resolved', toUnixTimestamp64Milli(window_start), 0) AS resolved_ms
FROM
(
    SELECT id, dedup_key, state, window_start
    FROM anomalies FINAL
    ORDER BY revision DESC
    LIMIT 1 BY id
)
WHERE state != 'resolved' OR window_start >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
ORDER BY id
