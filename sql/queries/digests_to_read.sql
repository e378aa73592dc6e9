-- How many digests a question about all models would read: those of the range, and their neighbours in the table. A
-- digest costs some 5 microseconds.
SELECT sum(rows) AS digests
FROM
(
    EXPLAIN ESTIMATE
    SELECT latency
    FROM {coarseTable:Identifier}
    WHERE stage = 'total'
      AND window_start >= toDateTime({coarseFromSeconds:UInt32}, 'UTC')
      AND window_start < toDateTime({coarseToSeconds:UInt32}, 'UTC')
      AND ({model:String} = '' OR model = {model:String})
    UNION ALL
    SELECT latency
    FROM {table:Identifier}
    WHERE stage = 'total'
      AND window_start >= toDateTime({fromSeconds:UInt32}, 'UTC')
      AND window_start < toDateTime({toSeconds:UInt32}, 'UTC')
      AND NOT (window_start >= toDateTime({coarseFromSeconds:UInt32}, 'UTC')
          AND window_start < toDateTime({coarseToSeconds:UInt32}, 'UTC'))
      AND ({model:String} = '' OR model = {model:String})
)
