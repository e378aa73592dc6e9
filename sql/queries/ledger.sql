-- Every chunk of the ledger, in the order in which it was stored.
SELECT
    group_id, topic, partition, log_id, start_offset, end_offset,
    toUnixTimestamp64Milli(first_timestamp) AS first_ms,
    toUnixTimestamp64Milli(last_timestamp) AS last_ms,
    records, consumed, aggregated, rejected, late, overflow, unmapped, samples,
    toUnixTimestamp(window_min) AS window_min_seconds,
    toUnixTimestamp64Milli(flushed_at) AS flushed_ms
FROM flushes
WHERE ({groupId:String} = '' OR group_id = {groupId:String})
  AND ({topic:String} = '' OR topic = {topic:String})
ORDER BY group_id, topic, partition, flushed_at, start_offset
