-- A summary of the ledger, a row a partition in each part of the table. ClickHouse keeps it with the
-- part, so it never differs from the rows. What runs each two seconds, and `verify`, read it in place
-- of the ledger: their cost does not grow with the retention.
--
-- The two sums of hashes show whether ranges tile. Every end but the last is the start of another
-- chunk, and every start but the first an end. So the hashes of ends and of the first start add up to
-- those of starts and of the last end: else there is a gap or an overlap (or a chance of 1 in 2^64).
ALTER TABLE flushes ADD PROJECTION IF NOT EXISTS by_partition
(
    SELECT
        group_id, topic, partition,
        count(),
        min(start_offset),
        max(end_offset),
        sum(cityHash64(start_offset)),
        sum(cityHash64(end_offset)),
        countIf(end_offset <= start_offset),
        countIf(consumed != aggregated + rejected + late + overflow),
        sum(consumed),
        sum(aggregated),
        sum(rejected),
        sum(late),
        sum(overflow),
        sum(late_merged),
        sum(samples),
        minOrNullIf(window_min, samples > 0),
        min(flushed_at),
        max(flushed_at),
        max(greatest(first_timestamp, last_timestamp)),
        max(watermark),
        maxIf(flushed_at, aggregated + overflow > 0),
        argMaxIf(window_max, (flushed_at, end_offset), aggregated + overflow > 0),
        argMax(end_offset, (flushed_at, end_offset))
    GROUP BY group_id, topic, partition
);

ALTER TABLE flushes MATERIALIZE PROJECTION by_partition;

-- Late merges are summed over the chunks of some windows.
ALTER TABLE flushes ADD INDEX IF NOT EXISTS window_range (window_min, window_max) TYPE minmax GRANULARITY 1;
