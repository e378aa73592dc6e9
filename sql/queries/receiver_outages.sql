-- Receivers that have accepted nothing since an attempt failed, and when the first of those attempts was.
SELECT receiver, toUnixTimestamp64Milli(min(failed_at)) AS failed_since_ms
FROM
(
    SELECT
        d.receiver AS receiver,
        d.at AS failed_at,
        d.outcome AS attempted,
        maxIf(d.at, d.outcome = 'accepted') OVER (PARTITION BY d.receiver) AS accepted_at
    FROM deliveries AS d
    WHERE d.receiver IN {receivers:Array(String)}
      AND d.at >= fromUnixTimestamp64Milli({sinceMs:Int64}, 'UTC')
)
WHERE attempted IN ('failed', 'rejected') AND failed_at > accepted_at
GROUP BY receiver
