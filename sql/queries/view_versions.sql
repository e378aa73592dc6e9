-- Versions of a model, or of all (''), with requests in a range, the newest of each model first. Hours (or days, where only
-- these are kept) say since when one is stored; where that is in the range, the finer table does.
WITH in_range AS
(
    SELECT
        model,
        version,
        min(window_start) AS first_window,
        max(window_start) AS last_window,
        sum(requests) AS count
    FROM {table:Identifier}
    WHERE ({model:String} = '' OR model = {model:String})
      AND stage = 'total'
      AND version NOT IN ('', '__other__') AND model != '__other__'
      AND window_start >= toDateTime({fromSeconds:UInt32}, 'UTC')
      AND window_start < toDateTime({toSeconds:UInt32}, 'UTC')
    GROUP BY model, version
)
SELECT
    r.model AS model,
    r.version AS version,
    toUnixTimestamp(if(h.first_hour >= toStartOfHour(toDateTime({fromSeconds:UInt32}, 'UTC')), r.first_window, h.first_hour))
        AS first_seconds,
    toUnixTimestamp(r.last_window) AS last_seconds,
    r.count AS requests
FROM in_range AS r
INNER JOIN
(
    SELECT model, version, min(window_start) AS first_hour
    FROM {firstTable:Identifier}
    WHERE ({model:String} = '' OR model = {model:String})
      AND stage = 'total'
      AND (model, version) IN (SELECT model, version FROM in_range)
    GROUP BY model, version
) AS h ON h.model = r.model AND h.version = r.version
ORDER BY model, first_seconds DESC, version DESC
LIMIT {limit:UInt32}
