-- How far each partition of a group has come: event time reached, when that was stored, of when the newest events of
-- its last chunk are, and the offset after it. Of the logs in one cluster, or ('') in all of them: of each partition
-- the log that was stored last.
SELECT
    topic,
    partition,
    toUnixTimestamp64Milli(max(watermark)) AS watermark_ms,
    -- Chunks without a single good event are no sign of life: they do not move the watermark.
    toUnixTimestamp64Milli(max(flushed_at)) AS flushed_ms,
    -- Not the watermark: that stands still while a partition has older events alone.
    toUnixTimestamp(argMax(newest_window, flushed_at)) * 1000 AS newest_window_ms,
    argMax(end_offset, stored_at) AS end_offset
FROM
(
    SELECT
        topic, partition, log_id,
        max(f.watermark) AS watermark,
        max(f.flushed_at) AS stored_at,
        maxIf(f.flushed_at, f.aggregated + f.overflow > 0) AS flushed_at,
        argMaxIf(f.window_max, (f.flushed_at, f.end_offset), f.aggregated + f.overflow > 0) AS newest_window,
        max(f.end_offset) AS end_offset
    FROM flushes AS f
    WHERE group_id = {groupId:String}
    GROUP BY topic, partition, log_id
)
WHERE {clusterId:String} = '' OR substringIndex(log_id, '/', 1) = {clusterId:String}
GROUP BY topic, partition
ORDER BY topic, partition
