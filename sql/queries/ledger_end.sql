-- Where the ledger of one partition ends: its chunk that was stored last. No row if it has none.
SELECT
    end_offset,
    toUnixTimestamp64Milli(last_timestamp) AS last_ms,
    toUnixTimestamp64Milli(watermark) AS watermark_ms
FROM flushes
WHERE group_id = {groupId:String} AND topic = {topic:String} AND partition = {partition:UInt32}
ORDER BY flushed_at DESC, end_offset DESC
LIMIT 1
