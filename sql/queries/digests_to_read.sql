-- How many digests a question about all models would read. Counting reads two small columns, and needs no right that
-- reading the digests does not: EXPLAIN ESTIMATE within a query needs CREATE TEMPORARY TABLE on all databases.
SELECT count() AS digests
FROM
(
    SELECT 1
    FROM {coarseTable:Identifier}
    WHERE stage = 'total'
      AND window_start >= toDateTime({coarseFromSeconds:UInt32}, 'UTC')
      AND window_start < toDateTime({coarseToSeconds:UInt32}, 'UTC')
      AND ({model:String} = '' OR model = {model:String})
    UNION ALL
    SELECT 1
    FROM {table:Identifier}
    WHERE stage = 'total'
      AND window_start >= toDateTime({fromSeconds:UInt32}, 'UTC')
      AND window_start < toDateTime({toSeconds:UInt32}, 'UTC')
      AND NOT (window_start >= toDateTime({coarseFromSeconds:UInt32}, 'UTC')
          AND window_start < toDateTime({coarseToSeconds:UInt32}, 'UTC'))
      AND ({model:String} = '' OR model = {model:String})
    UNION ALL
    SELECT 1
    FROM latency_1h
    WHERE stage = 'total'
      AND window_start >= toDateTime({baselineFromSeconds:UInt32}, 'UTC')
      AND window_start < toDateTime({baselineToSeconds:UInt32}, 'UTC')
      AND (toUnixTimestamp(window_start) + 86400 - {firstSlot:UInt32}) % 86400 < {slots:UInt32} * {slotSeconds:UInt32}
      AND ({model:String} = '' OR model = {model:String})
)
