-- What the ledger says of each log of each partition, and of all it has counted.
SELECT
    group_id, topic, partition, log_id,
    count() AS chunks,
    min(start_offset) AS from_offset,
    max(end_offset) AS to_offset,
    sum(f.consumed) AS consumed,
    sum(f.aggregated) AS aggregated,
    sum(f.rejected) AS rejected,
    sum(f.late) AS late,
    sum(f.overflow) AS overflow,
    sum(f.unmapped) AS unmapped,
    sum(f.weight) AS weight,
    sum(f.late_merged) AS late_merged,
    sum(f.samples) AS samples,
    -- Where nothing was counted, as late as can be: it holds nobody to anything.
    toUnixTimestamp(minOrNullIf(f.window_min, f.samples > 0)) AS first_window_seconds,
    toUnixTimestamp64Milli(min(f.flushed_at)) AS first_flushed_ms
FROM flushes AS f
GROUP BY group_id, topic, partition, log_id
ORDER BY group_id, topic, partition, first_flushed_ms
