-- What can still become of the windows of one table (latency_10s ... latency_1d) over a range, by the
-- ledger of one group:
--   open         some partition that is not idle has not passed the window's end and grace
--   provisional  complete enough to be evaluated; later events may still be merged into it
--   final        every partition has passed its end and the allowed lateness: nothing can change
-- A row a state, with the first and last of its windows. A partition is idle when none of its chunks
-- had a good event for {idleMs}: windows.idle_partition and ingest.flush_interval. One that has never
-- had any counts for nothing. src/sink/windows/window-progress.ts says the same to the detector.
WITH
    partitions AS
    (
        SELECT
            toUnixTimestamp64Milli(max(watermark)) AS watermark_ms,
            maxIf(flushed_at, aggregated + overflow > 0) > now64(3) - toIntervalMillisecond({idleMs:UInt64}) AS is_active
        FROM flushes
        WHERE group_id = {groupId:String}
        GROUP BY topic, partition
        HAVING watermark_ms > 0
    ),
    (SELECT if(max(is_active), minIf(watermark_ms, is_active), max(watermark_ms)) FROM partitions) AS complete_until_ms,
    (SELECT min(watermark_ms) FROM partitions) AS reached_by_all_ms,
    (
        SELECT sum(late_merged)
        FROM flushes
        WHERE group_id = {groupId:String}
          AND window_max >= toDateTime({fromSeconds:UInt32}, 'UTC')
          AND window_min < toDateTime({toSeconds:UInt32}, 'UTC')
    ) AS late_merged
SELECT
    state,
    count() AS windows,
    min(window_start) AS first_window,
    max(window_start) AS last_window,
    complete_until_ms,
    reached_by_all_ms,
    late_merged
FROM
(
    SELECT
        window_start,
        (toUnixTimestamp(window_start) + {windowSeconds:UInt32}) * 1000 AS end_ms,
        multiIf(
            end_ms + {allowedLatenessMs:UInt64} <= reached_by_all_ms, 'final',
            end_ms + {graceMs:UInt64} <= complete_until_ms, 'provisional',
            'open') AS state
    FROM (SELECT DISTINCT window_start FROM {table:Identifier}
          WHERE window_start >= toDateTime({fromSeconds:UInt32}, 'UTC')
            AND window_start < toDateTime({toSeconds:UInt32}, 'UTC'))
)
GROUP BY state
ORDER BY first_window
