-- What is stored of one chunk: its ledger row (then every table has it), its landing rows since the
-- time given and the samples in them, the chunks that were stored after them, and how many tokens the
-- server remembers. The rows of a chunk lie in one block, of one time, some of which carry its mark.
WITH landed AS (
    SELECT count() AS row_count, sumIf(requests, kind = 'stage') AS samples, min(inserted_at) AS landed_at
    FROM chunk_rows
    WHERE group_id = {groupId:String} AND topic = {topic:String} AND partition = {partition:UInt32}
      AND log_mark = {logMark:UInt64} AND start_offset = {startOffset:UInt64} AND only_table IN ('', 'chunk_rows')
      AND inserted_at IN (
          SELECT inserted_at
          FROM chunk_rows
          WHERE group_id = {groupId:String} AND topic = {topic:String} AND partition = {partition:UInt32}
            AND log_mark = {logMark:UInt64} AND start_offset = {startOffset:UInt64} AND only_table IN ('', 'chunk_rows')
            AND chunk_mark = {mark:UInt64}
            AND inserted_at >= fromUnixTimestamp64Milli({sinceMs:Int64})
      )
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
    (SELECT count() FROM flushes WHERE flushed_at >= (SELECT landed_at FROM landed)) AS chunks_since,
    (
        SELECT toUInt64OrZero(extract(engine_full, 'deduplication_window = (\\d+)'))
        FROM system.tables
        WHERE database = currentDatabase() AND name = 'chunk_rows'
    ) AS tokens_kept
