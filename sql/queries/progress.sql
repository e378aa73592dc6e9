-- How far each partition of a group has come: event time reached, when that was stored, and the offset after it.
SELECT
    topic,
    partition,
    toUnixTimestamp64Milli(max(watermark)) AS watermark_ms,
    -- Chunks without a single good event are no sign of life: they do not move the watermark.
    toUnixTimestamp64Milli(maxIf(flushed_at, aggregated + overflow > 0)) AS flushed_ms,
    -- Of the last chunk, not the highest: a topic that was made anew begins at 0 again.
    argMax(end_offset, (flushed_at, end_offset)) AS end_offset
FROM flushes
WHERE group_id = {groupId:String}
GROUP BY topic, partition
ORDER BY topic, partition
