-- The last snapshots of a detector's state up to some time: the newest is read, or else the one before.
SELECT snapshot, slot, parts, reign, toUnixTimestamp64Milli(as_of) AS as_of_ms
FROM detector_snapshots FINAL
WHERE detector = {detector:String} AND as_of <= fromUnixTimestamp64Milli({untilMs:Int64}, 'UTC')
ORDER BY detector_snapshots.as_of DESC, written_at DESC
LIMIT 2
