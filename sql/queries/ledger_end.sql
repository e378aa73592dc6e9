-- Where the ledger of one partition ends: the chunk that was stored last, and the latest timestamp of
-- all records that were ever stored. No row if it has none. A row that was written twice counts as of
-- its first writing.
WITH (
    SELECT (max(flushed_at), max(greatest(first_timestamp, last_timestamp)))
    FROM flushes
    WHERE group_id = {groupId:String} AND topic = {topic:String} AND partition = {partition:UInt32}
) AS latest
SELECT
    end_offset,
    toUnixTimestamp64Milli(latest.2) AS latest_ms,
    toUnixTimestamp64Milli(argMin(watermark, flushed_at)) AS watermark_ms
FROM flushes
WHERE group_id = {groupId:String} AND topic = {topic:String} AND partition = {partition:UInt32}
  AND flushed_at >= latest.1 - INTERVAL 1 DAY
GROUP BY start_offset, end_offset, first_timestamp, last_timestamp
ORDER BY min(flushed_at) DESC, end_offset DESC
LIMIT 1
