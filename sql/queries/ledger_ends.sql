-- Where the ledger of one partition ends, for each log that it has had: the log, its end, its watermark, and
-- the leader epoch of its last record, as texts. And which server says so (server_identity.sql).
SELECT
    arraySort(groupArray([log_id, toString(end_offset), toString(watermark_ms), toString(leader_epoch)])) AS ends,
    (
        SELECT concat(toString(serverUUID()), '/', any(if(empty(uuid), database, toString(uuid))))
        FROM system.tables
        WHERE database = currentDatabase() AND name = 'flushes'
    ) AS server
FROM
(
    SELECT
        log_id,
        max(f.end_offset) AS end_offset,
        toUnixTimestamp64Milli(max(f.watermark)) AS watermark_ms,
        argMax(f.leader_epoch, f.end_offset) AS leader_epoch
    FROM flushes AS f
    WHERE group_id = {groupId:String} AND topic = {topic:String} AND partition = {partition:UInt32}
    GROUP BY log_id
)
