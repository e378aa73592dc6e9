-- Chunks whose rows are stored, whose ledger row is not, and that nobody is likely to finish: the partition has
-- gone on in another log for five minutes (a topic that moved to another cluster, or was recreated), or they have
-- been there for an hour. Until then such a chunk is in flight. kind:
--   abandoned  the amount samples of the chunk that begins at from_offset
-- A partition stores one chunk after the other, so it is the last one that has landed of its log. Where its log has
-- gone on since, chunk_problems.sql names it. log_id is '' for a log that the ledger does not know. The cost grows
-- with the landings that are kept (clickhouse.retention.chunk_landings), not with the ledger.
WITH
    now64(3, 'UTC') AS asked_at,
    last_landed AS
    (
        SELECT
            group_id, topic, partition, log_mark,
            argMax(start_offset, (inserted_at, start_offset)) AS start_offset,
            max(inserted_at) AS landed_at
        FROM chunk_landings
        WHERE {groupId:String} = '' OR group_id = {groupId:String}
        GROUP BY group_id, topic, partition, log_mark
        HAVING landed_at < asked_at - toIntervalMinute(5)
    ),
    pending AS
    (
        SELECT group_id, topic, partition, log_mark, start_offset, landed_at
        FROM last_landed
        WHERE (group_id, topic, partition, log_mark, start_offset) NOT IN
        (
            SELECT group_id, topic, partition, log_mark, start_offset
            FROM flushes
            WHERE (group_id, topic, partition, start_offset) IN
                (SELECT group_id, topic, partition, start_offset FROM last_landed)
        )
    ),
    logs AS
    (
        SELECT group_id, topic, partition, log_mark, any(log_id) AS log_id, max(flushed_at) AS recorded_at
        FROM flushes
        WHERE (group_id, topic, partition) IN (SELECT group_id, topic, partition FROM pending)
        GROUP BY group_id, topic, partition, log_mark
    ),
    partitions AS
    (
        SELECT group_id, topic, partition, max(l.recorded_at) AS recorded_at
        FROM logs AS l
        GROUP BY group_id, topic, partition
    ),
    amounts AS
    (
        SELECT group_id, topic, partition, log_mark, start_offset, sum(c.samples) AS samples
        FROM chunk_landings AS c
        WHERE (group_id, topic, partition, log_mark, start_offset) IN
            (SELECT group_id, topic, partition, log_mark, start_offset FROM pending)
        GROUP BY group_id, topic, partition, log_mark, start_offset
    )
SELECT
    'abandoned' AS kind,
    group_id, topic, partition, own.log_id AS log_id, start_offset, 0 AS end_offset,
    start_offset AS from_offset, 0 AS to_offset,
    0 AS other_start_offset, 0 AS other_end_offset,
    samples AS amount, 0 AS due, samples AS had,
    toUnixTimestamp(landed_at) * 1000 AS oldest_ms,
    count() OVER () AS found,
    sum(amount) OVER () AS total
FROM pending
INNER JOIN amounts USING (group_id, topic, partition, log_mark, start_offset)
LEFT JOIN logs AS own USING (group_id, topic, partition, log_mark)
LEFT JOIN partitions AS whole USING (group_id, topic, partition)
WHERE own.recorded_at < landed_at + toIntervalSecond(1)
  AND (whole.recorded_at >= landed_at + toIntervalMinute(5) OR landed_at < asked_at - toIntervalHour(1))
ORDER BY group_id, topic, partition, log_mark
LIMIT {limit:UInt32}
