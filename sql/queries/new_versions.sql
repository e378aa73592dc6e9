-- Versions of models that were first seen after a time, of models that had another version before.
SELECT model, version, toUnixTimestamp(first_start) AS first_seconds
FROM
(
    SELECT model, version, min(window_start) AS first_start, min(first_start) OVER (PARTITION BY model) AS model_start
    FROM latency_1h
    WHERE window_start >= toDateTime({fromSeconds:UInt32}, 'UTC') AND version != '' AND model != '__other__'
    GROUP BY model, version
)
WHERE first_start >= toDateTime({sinceSeconds:UInt32}, 'UTC') AND first_start > model_start
ORDER BY first_start, model, version
LIMIT {limit:UInt32}
