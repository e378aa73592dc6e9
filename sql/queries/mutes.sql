-- Mutes that end after a time, as they were last written; those that end last first.
SELECT
    id,
    toUnixTimestamp64Milli(from_time) AS from_ms,
    toUnixTimestamp64Milli(until_time) AS until_ms,
    models, kinds, dimensions, why, who, on_behalf_of,
    toUnixTimestamp64Milli(added_at) AS added_ms,
    toUnixTimestamp64Milli(planned_until) AS planned_until_ms,
    toUnixTimestamp64Milli(ended_at) AS ended_ms,
    ended_by
FROM mutes FINAL
WHERE until_time > fromUnixTimestamp64Milli({afterMs:Int64}, 'UTC')
ORDER BY until_time DESC, id DESC
LIMIT {limit:UInt32}
