-- What is stored of one chunk: its ledger row (then every table has it), how many rows of it have landed
-- since the time given and the samples in them, the chunks that were stored since, and how many tokens the
-- server remembers. A chunk whose landing was sent again may have been sent any time since it was begun.
-- And which server says so (server_identity.sql).
WITH
    fromUnixTimestamp64Milli({sinceMs:Int64}) AS since,
    landed AS
    (
        SELECT
            sum(l.row_count) AS row_count, sum(l.samples) AS samples,
            if(countIf(NOT is_fill) = 0, since, toDateTime64(minIf(inserted_at, NOT is_fill), 3)) AS sent_at
        FROM chunk_landings AS l
        WHERE group_id = {groupId:String} AND topic = {topic:String} AND partition = {partition:UInt32}
          AND log_mark = {logMark:UInt64} AND start_offset = {startOffset:UInt64} AND chunk_mark = {mark:UInt64}
          AND inserted_at >= since
    )
SELECT
    (
        SELECT count()
        FROM flushes
        WHERE group_id = {groupId:String} AND topic = {topic:String}
          AND partition = {partition:UInt32} AND log_id = {logId:String}
          AND start_offset = {startOffset:UInt64} AND end_offset = {endOffset:UInt64}
    ) AS ledger_rows,
    (SELECT row_count FROM landed) AS landed_rows,
    (SELECT samples FROM landed) AS landed_samples,
    (SELECT count() FROM flushes WHERE flushed_at >= (SELECT sent_at FROM landed)) AS chunks_since,
    (
        SELECT toUInt64OrZero(extract(engine_full, 'deduplication_window = (\\d+)'))
        FROM system.tables
        WHERE database = currentDatabase() AND name = 'chunk_landings'
    ) AS tokens_kept,
    (
        SELECT concat(toString(serverUUID()), '/', any(if(empty(uuid), database, toString(uuid))))
        FROM system.tables
        WHERE database = currentDatabase() AND name = 'flushes'
    ) AS server
