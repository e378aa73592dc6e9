-- Chunks of which Kafka had removed records before they were stored. kind:
--   removed          amount events, which the chunk's intent had counted: due were counted, had were left
--   removed_unread   amount offsets that nobody had read: each may have held a record
-- At most {limit} of a kind, the first ones; found and total say how many there are and what they amount to.
--
-- Logs whose summary shows none are passed over (sql/0021_removed_records.sql).
WITH suspects AS
(
    SELECT group_id, topic, partition, log_id
    FROM flushes
    GROUP BY group_id, topic, partition, log_id
    HAVING sum(removed_events) > 0 OR sum(removed_offsets) > 0
)
SELECT
    kind, group_id, topic, partition, log_id, start_offset, end_offset,
    start_offset AS from_offset, end_offset AS to_offset,
    amount, had + amount AS due, had,
    toUnixTimestamp64Milli(flushed_at) AS oldest_ms,
    count() OVER same_kind AS found,
    sum(amount) OVER same_kind AS total
FROM
(
    SELECT
        group_id, topic, partition, log_id, start_offset, end_offset, flushed_at, consumed AS had,
        ['removed', 'removed_unread'] AS kinds, [removed_events, removed_offsets] AS amounts
    FROM flushes
    WHERE (removed_events > 0 OR removed_offsets > 0)
      AND (group_id, topic, partition, log_id) IN suspects
)
ARRAY JOIN kinds AS kind, amounts AS amount
WHERE amount > 0
WINDOW same_kind AS (PARTITION BY kind)
ORDER BY group_id, topic, partition, log_id, start_offset, kind, flushed_at
LIMIT {limit:UInt32} BY kind
