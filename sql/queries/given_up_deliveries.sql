-- Deliveries that were given up since a time, the latest first.
SELECT receiver, id, revision, outcome, answer, toUnixTimestamp64Milli(at) AS at_ms
FROM deliveries AS d FINAL
WHERE receiver IN {receivers:Array(String)}
  AND d.at >= fromUnixTimestamp64Milli({sinceMs:Int64}, 'UTC')
  AND outcome IN ('refused', 'expired')
ORDER BY d.at DESC
LIMIT {limit:UInt32}
