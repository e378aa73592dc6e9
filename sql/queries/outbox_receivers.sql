-- Since when each receiver has been configured.
SELECT r.receiver AS receiver, toUnixTimestamp64Milli(min(since)) AS since_ms
FROM receivers AS r
WHERE r.receiver IN {receivers:Array(String)}
GROUP BY receiver
