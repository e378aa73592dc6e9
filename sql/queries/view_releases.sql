-- Versions of a model, or of all (''), whose first request of all that is stored is in a range. Days say which ones may be;
-- the finer table says when.
WITH candidates AS
(
    SELECT model, version
    FROM latency_1d
    WHERE ({model:String} = '' OR model = {model:String})
      AND stage = 'total'
      AND version NOT IN ('', '__other__') AND model != '__other__'
    GROUP BY model, version
    HAVING min(window_start) >= toStartOfDay(toDateTime({fromSeconds:UInt32}, 'UTC'))
       AND min(window_start) < toDateTime({toSeconds:UInt32}, 'UTC')
)
SELECT
    model,
    version,
    toUnixTimestamp(min(window_start)) AS first_seconds,
    toUnixTimestamp(max(window_start)) AS last_seconds,
    sumIf(l.requests, window_start < toDateTime({toSeconds:UInt32}, 'UTC')) AS requests
FROM {table:Identifier} AS l
WHERE ({model:String} = '' OR model = {model:String})
  AND stage = 'total'
  AND window_start >= toStartOfDay(toDateTime({fromSeconds:UInt32}, 'UTC'))
  AND (model, version) IN candidates
GROUP BY model, version
HAVING first_seconds >= {fromSeconds:UInt32} AND first_seconds < {toSeconds:UInt32}
ORDER BY first_seconds, model, version
LIMIT {limit:UInt32}
