-- How far each partition of a group has come: event time reached, when that was stored, of when the newest events of
-- its last chunk are, and the offset after it.
SELECT
    topic,
    partition,
    toUnixTimestamp64Milli(max(watermark)) AS watermark_ms,
    -- Chunks without a single good event are no sign of life: they do not move the watermark.
    toUnixTimestamp64Milli(maxIf(flushed_at, aggregated + overflow > 0)) AS flushed_ms,
    -- Not the watermark: that stands still while a partition has older events alone.
    toUnixTimestamp(argMaxIf(window_max, (flushed_at, f.end_offset), aggregated + overflow > 0)) * 1000 AS newest_window_ms,
    -- Of the last chunk, not the highest: a topic that was made anew begins at 0 again.
    argMax(f.end_offset, (flushed_at, f.end_offset)) AS end_offset
FROM flushes AS f
WHERE group_id = {groupId:String}
GROUP BY topic, partition
ORDER BY topic, partition
