-- Where the ledger of one partition ends: a row for each log that it has had.
SELECT
    log_id,
    max(f.end_offset) AS end_offset,
    toUnixTimestamp64Milli(max(f.watermark)) AS watermark_ms,
    argMax(f.leader_epoch, f.end_offset) AS leader_epoch
FROM flushes AS f
WHERE group_id = {groupId:String} AND topic = {topic:String} AND partition = {partition:UInt32}
GROUP BY log_id
ORDER BY log_id
