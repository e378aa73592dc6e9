-- Where the ledger of one partition ends: the chunk that was stored last, and the latest timestamp of
-- all records that were ever stored. No row if it has none. A row that was written twice counts as of
-- its first writing.
--
-- A row of a topic that was deleted may come after the first one of the topic that was made anew. Rows
-- of one log come in the order of its offsets. So where one begins before others end that were there
-- already, there are two logs, and the one with the later records is the one that is there now.
WITH
    (
        SELECT (max(flushed_at), max(greatest(first_timestamp, last_timestamp)))
        FROM flushes
        WHERE group_id = {groupId:String} AND topic = {topic:String} AND partition = {partition:UInt32}
    ) AS latest,
    stored AS (
        SELECT
            start_offset, end_offset, first_timestamp, last_timestamp,
            min(flushes.flushed_at) AS stored_at, argMin(watermark, flushes.flushed_at) AS reached
        FROM flushes
        WHERE group_id = {groupId:String} AND topic = {topic:String} AND partition = {partition:UInt32}
          AND flushed_at >= latest.1 - INTERVAL 1 DAY
        GROUP BY start_offset, end_offset, first_timestamp, last_timestamp
    ),
    (
        SELECT max(multiIf(
            start_offset >= end_before, fromUnixTimestamp64Milli(toInt64(0), 'UTC'),
            first_timestamp > last_before, first_timestamp,
            first_before > last_timestamp, first_before,
            fromUnixTimestamp64Milli(toInt64(0), 'UTC')
        ))
        FROM (
            SELECT
                start_offset, first_timestamp, last_timestamp,
                max(end_offset) OVER before AS end_before,
                argMax(first_timestamp, end_offset) OVER before AS first_before,
                argMax(last_timestamp, end_offset) OVER before AS last_before
            FROM stored
            WINDOW before AS (ORDER BY stored_at, end_offset ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
        )
    ) AS made_anew
SELECT
    end_offset,
    toUnixTimestamp64Milli(latest.2) AS latest_ms,
    toUnixTimestamp64Milli(reached) AS watermark_ms
FROM stored
WHERE last_timestamp >= made_anew
ORDER BY stored_at DESC, end_offset DESC
LIMIT 1
