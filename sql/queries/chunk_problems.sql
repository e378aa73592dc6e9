-- Where chunks do not have the rows that the ledger says, as long as their landing rows are kept. kind:
--   loss       the chunk lacks amount samples: the ledger has due, the rows had
--   duplicate  the chunk has amount samples more than were counted
--   unrecorded the chunk's amount samples are stored, no ledger row has it, and the ledger of its
--              partition has gone on since: before that, it is in flight
-- At most {limit} of a kind, the first ones; found and total say how many there are. oldest_ms is
-- from when on chunks must be looked at to find it.
--
-- Compared are chunks whose rows came after {sinceMs} for certain: a chunk is begun when the one before
-- it is recorded, the first one of a partition (only with {firstsToo}) no earlier than its last record.
-- Rows are read from {landedSinceMs} on, somewhat earlier; ledger rows from {ledgerSinceMs} on, so that
-- the rows of a chunk recorded long ago are known when they come again. What is recorded while this
-- runs is left out. A chunk is named by its log and the offset it starts at.
WITH
    now64(3, 'UTC') AS asked_at,
    fromUnixTimestamp64Milli({sinceMs:Int64}, 'UTC') AS since,
    toDateTime64(0, 3, 'UTC') AS never,
    landed AS
    (
        SELECT group_id, topic, partition, log_mark, start_offset, sum(c.samples) AS samples, max(inserted_at) AS landed_at
        FROM chunk_landings AS c
        WHERE inserted_at >= toDateTime(intDiv({landedSinceMs:Int64}, 1000), 'UTC')
          AND ({groupId:String} = '' OR group_id = {groupId:String})
        GROUP BY group_id, topic, partition, log_mark, start_offset
    ),
    begins AS
    (
        SELECT group_id, topic, partition, log_id, min(f.flushed_at) AS first_at
        FROM flushes AS f
        GROUP BY group_id, topic, partition, log_id
    ),
    ledger AS
    (
        SELECT
            *,
            lagInFrame(flushed_at, 1, never) OVER stored AS before_at,
            if({firstsToo:Bool} AND flushed_at = first_at, last_timestamp, before_at) AS begun_at
        FROM
        (
            SELECT group_id, topic, partition, log_id, log_mark, start_offset, end_offset, last_timestamp, samples, flushed_at
            FROM flushes
            WHERE flushed_at >= since AND flushed_at < asked_at
              AND ({groupId:String} = '' OR group_id = {groupId:String})
            UNION ALL
            SELECT group_id, topic, partition, log_id, log_mark, start_offset, end_offset, last_timestamp, samples, flushed_at
            FROM flushes
            WHERE flushed_at >= fromUnixTimestamp64Milli({ledgerSinceMs:Int64}, 'UTC') AND flushed_at < since
              AND (group_id, topic, partition, log_mark, start_offset) IN (SELECT group_id, topic, partition, log_mark, start_offset FROM landed)
        ) AS stored_chunks
        INNER JOIN begins USING (group_id, topic, partition, log_id)
        WINDOW stored AS
        (
            PARTITION BY group_id, topic, partition, log_id ORDER BY flushed_at, start_offset
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        )
    ),
    chunks AS
    (
        SELECT
            group_id, topic, partition, log_mark, start_offset,
            max(c.log_id) AS log_id,
            max(c.end_offset) AS end_offset,
            sum(c.recorded) AS recorded,
            sum(c.landed) AS landed,
            max(c.flushed_at) AS flushed_at,
            max(c.landed_at) AS landed_at,
            min(c.begun_at) AS begun_at
        FROM
        (
            -- By chunk: one that is in the ledger twice is an overlap there, and here the same chunk.
            SELECT
                group_id, topic, partition, log_id, log_mark, start_offset, end_offset,
                any(samples) AS recorded, 0 AS landed,
                min(l.flushed_at) AS flushed_at, never AS landed_at, min(l.begun_at) AS begun_at
            FROM ledger AS l
            GROUP BY group_id, topic, partition, log_id, log_mark, start_offset, end_offset
            UNION ALL
            SELECT
                group_id, topic, partition, '' AS log_id, log_mark, start_offset, 0,
                0, l.samples, never, toDateTime64(l.landed_at, 3, 'UTC'), asked_at
            FROM landed AS l
        ) AS c
        GROUP BY group_id, topic, partition, log_mark, start_offset
    ),
    suspects AS
    (
        SELECT
            *,
            flushed_at >= since AND begun_at >= since AS is_compared,
            flushed_at > never AS is_recorded
        FROM chunks
        WHERE (is_compared AND recorded != landed)
           -- Rows are older than their ledger row; a minute, in case the clock was set back.
           OR (is_recorded AND flushed_at < since AND landed_at > flushed_at + toIntervalMinute(1))
           OR (NOT is_recorded AND landed > 0 AND landed_at >= since)
    ),
    reached AS
    (
        SELECT group_id, topic, partition, log_mark, max(flushed_at) AS recorded_at
        FROM flushes
        WHERE flushed_at >= since AND flushed_at < asked_at
          AND ({groupId:String} = '' OR group_id = {groupId:String})
        GROUP BY group_id, topic, partition, log_mark
    )
SELECT
    multiIf(NOT is_recorded, 'unrecorded', is_compared AND recorded > landed, 'loss', 'duplicate') AS kind,
    group_id, topic, partition, log_id, start_offset, end_offset,
    start_offset AS from_offset, end_offset AS to_offset,
    0 AS other_start_offset, 0 AS other_end_offset,
    toUInt64(if(is_compared, abs(toInt64(recorded) - toInt64(landed)), toInt64(landed))) AS amount,
    recorded AS due, landed AS had,
    toUnixTimestamp64Milli(multiIf(is_compared, begun_at, is_recorded, flushed_at, landed_at)) AS oldest_ms,
    count() OVER same_kind AS found,
    sum(amount) OVER same_kind AS total
FROM suspects LEFT JOIN reached USING (group_id, topic, partition, log_mark)
WHERE is_recorded OR recorded_at >= landed_at + toIntervalSecond(1)
WINDOW same_kind AS (PARTITION BY kind)
ORDER BY group_id, topic, partition, log_mark, start_offset, kind
LIMIT {limit:UInt32} BY kind
