-- How far each partition of a group is stored, by its log that was stored last, and what became of its events that were
-- stored in the last hour: a row a partition.
SELECT
    topic,
    partition,
    stored_offset,
    watermark_ms,
    stored_ms,
    consumed,
    aggregated,
    rejected,
    late,
    overflow,
    unmapped
FROM
(
    SELECT
        topic,
        partition,
        argMax(end_offset, stored_at) AS stored_offset,
        toUnixTimestamp64Milli(max(watermark)) AS watermark_ms,
        toUnixTimestamp64Milli(max(stored_at)) AS stored_ms
    FROM
    (
        SELECT
            topic, partition, log_id,
            max(f.end_offset) AS end_offset,
            max(f.watermark) AS watermark,
            max(f.flushed_at) AS stored_at
        FROM flushes AS f
        WHERE group_id = {groupId:String}
        GROUP BY topic, partition, log_id
    )
    GROUP BY topic, partition
) AS partitions
LEFT JOIN
(
    SELECT
        topic,
        partition,
        sum(f.consumed) AS consumed,
        sum(f.aggregated) AS aggregated,
        sum(f.rejected) AS rejected,
        sum(f.late) AS late,
        sum(f.overflow) AS overflow,
        sum(f.unmapped) AS unmapped
    FROM flushes AS f
    WHERE group_id = {groupId:String}
      AND f.flushed_at >= fromUnixTimestamp64Milli({sinceMs:Int64}, 'UTC')
    GROUP BY topic, partition
) AS last_hour USING (topic, partition)
ORDER BY topic, partition
