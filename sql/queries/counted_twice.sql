-- Offsets of a topic that two groups have counted into this database: everything there counts twice.
-- Runs of chunks of one log are compared, not chunks. Imports of files are left out: each is a group of its own.
WITH
    chunks AS
    (
        SELECT group_id, topic, partition, log_id, start_offset, end_offset, flushed_at
        FROM flushes
        WHERE NOT startsWith(group_id, 'file/')
          AND end_offset > start_offset
          AND (topic, partition, log_id) IN
          (
              SELECT topic, partition, log_id
              FROM
              (
                  SELECT group_id, topic, partition, log_id, count() FROM flushes
                  WHERE NOT startsWith(group_id, 'file/')
                  GROUP BY group_id, topic, partition, log_id
              )
              GROUP BY topic, partition, log_id HAVING count() > 1
          )
    ),
    runs AS
    (
        SELECT
            group_id, topic, partition, log_id,
            min(start_offset) AS from_offset, max(end_offset) AS to_offset,
            min(flushed_at) AS flushed_at
        FROM
        (
            SELECT *, sum(is_break) OVER stored AS run
            FROM
            (
                SELECT *, start_offset != lagInFrame(end_offset, 1, start_offset) OVER stored AS is_break
                FROM chunks
                WINDOW stored AS
                (
                    PARTITION BY group_id, topic, partition, log_id ORDER BY flushed_at, start_offset
                    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                )
            )
            WINDOW stored AS
            (
                PARTITION BY group_id, topic, partition, log_id ORDER BY flushed_at, start_offset
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
            )
        )
        GROUP BY group_id, topic, partition, log_id, run
    )
SELECT
    'counted_twice' AS kind,
    a.group_id AS group_id, b.group_id AS other_group_id,
    a.topic AS topic, a.partition AS partition, a.log_id AS log_id,
    greatest(a.from_offset, b.from_offset) AS start_offset,
    least(a.to_offset, b.to_offset) AS end_offset,
    start_offset AS from_offset, end_offset AS to_offset,
    b.from_offset AS other_start_offset, b.to_offset AS other_end_offset,
    toUInt64(end_offset - start_offset) AS amount, 0 AS due, 0 AS had,
    toUnixTimestamp64Milli(least(a.flushed_at, b.flushed_at)) AS oldest_ms,
    count() OVER () AS found,
    sum(amount) OVER () AS total
FROM runs AS a
INNER JOIN runs AS b ON a.topic = b.topic AND a.partition = b.partition AND a.log_id = b.log_id
WHERE a.group_id < b.group_id
  AND a.from_offset < b.to_offset AND b.from_offset < a.to_offset
ORDER BY topic, partition, log_id, start_offset, group_id, other_group_id
LIMIT {limit:UInt32}
