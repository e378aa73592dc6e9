-- Where a chunk is, by its mark: texts of a table, and of the beginning of the table's partition in epoch
-- seconds (0 for landings, which have no partitions). Reads the windows of the days from {fromS} to
-- before {toS}, and landings since the time given. And which server says so (server_identity.sql).
SELECT
    groupArray(concat(place, ' ', toString(part))) AS places,
    (
        SELECT concat(toString(serverUUID()), '/', any(if(empty(uuid), database, toString(uuid))))
        FROM system.tables
        WHERE database = currentDatabase() AND name = 'flushes'
    ) AS server
FROM
(
    WITH
        toDateTime({fromS:UInt32}, 'UTC') AS from_time,
        toDateTime({toS:UInt32}, 'UTC') AS to_time,
        {mark:UInt64} AS mark
    SELECT 'chunk_landings' AS place, 0 AS part
    FROM chunk_landings
    WHERE chunk_mark = mark AND inserted_at >= fromUnixTimestamp64Milli({sinceMs:Int64})
    GROUP BY part
    UNION ALL
    SELECT 'latency_10s', toUnixTimestamp(toStartOfDay(window_start)) AS part FROM latency_10s
    WHERE window_start >= from_time AND window_start < to_time AND has(chunk_marks, mark)
    GROUP BY part
    UNION ALL
    SELECT 'latency_1m', toUnixTimestamp(toStartOfDay(window_start)) AS part FROM latency_1m
    WHERE window_start >= from_time AND window_start < to_time AND has(chunk_marks, mark)
    GROUP BY part
    UNION ALL
    SELECT 'latency_1h', toUnixTimestamp(toDateTime(toStartOfMonth(window_start), 'UTC')) AS part FROM latency_1h
    WHERE window_start >= from_time AND window_start < to_time AND has(chunk_marks, mark)
    GROUP BY part
    UNION ALL
    SELECT 'latency_1d', toUnixTimestamp(toDateTime(toStartOfYear(window_start), 'UTC')) AS part FROM latency_1d
    WHERE window_start >= from_time AND window_start < to_time AND has(chunk_marks, mark)
    GROUP BY part
    UNION ALL
    SELECT 'drivers_1m', toUnixTimestamp(toStartOfDay(window_start)) AS part FROM drivers_1m
    WHERE window_start >= from_time AND window_start < to_time AND has(chunk_marks, mark)
    GROUP BY part
    UNION ALL
    SELECT 'exemplars', toUnixTimestamp(toStartOfDay(window_start)) AS part FROM exemplars
    WHERE window_start >= from_time AND window_start < to_time AND has(chunk_marks, mark)
    GROUP BY part
)
