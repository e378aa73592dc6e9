-- Mutes that end after a time, as they were last written; those that end first first.
SELECT
    id,
    toUnixTimestamp64Milli(from_time) AS from_ms,
    toUnixTimestamp64Milli(until_time) AS until_ms,
    models, kinds, dimensions, why, who
FROM mutes FINAL
WHERE until_time > fromUnixTimestamp64Milli({afterMs:Int64}, 'UTC')
ORDER BY until_time, id
LIMIT {limit:UInt32}
