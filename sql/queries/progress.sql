-- How far each partition of a group has come: event time reached, and when that was stored.
SELECT
    topic,
    partition,
    toUnixTimestamp64Milli(max(watermark)) AS watermark_ms,
    -- Chunks without a single good event are no sign of life: they do not move the watermark.
    toUnixTimestamp64Milli(maxIf(flushed_at, aggregated + overflow > 0)) AS flushed_ms
FROM flushes
WHERE group_id = {groupId:String}
GROUP BY topic, partition
ORDER BY topic, partition
