-- How far each partition of a group has come: event time reached, and when that was stored.
SELECT
    topic,
    partition,
    toUnixTimestamp64Milli(max(watermark)) AS watermark_ms,
    toUnixTimestamp64Milli(max(flushed_at)) AS flushed_ms
FROM flushes
WHERE group_id = {groupId:String}
GROUP BY topic, partition
ORDER BY topic, partition
