-- What Kafka had removed before it was stored. removed_events are the events that a chunk's intent had counted
-- and that were gone when the chunk was made again. removed_offsets are the offsets of a range that nobody had
-- read before its records were gone: each may have held one record.
ALTER TABLE flushes
    ADD COLUMN IF NOT EXISTS removed_events UInt64 DEFAULT 0 AFTER late_merged,
    ADD COLUMN IF NOT EXISTS removed_offsets UInt64 DEFAULT 0 AFTER removed_events;

-- The summary of 0017_unmapped_and_weight.sql with them.
ALTER TABLE flushes DROP PROJECTION IF EXISTS by_log;

ALTER TABLE flushes ADD PROJECTION IF NOT EXISTS by_log
(
    SELECT
        group_id, topic, partition, log_id,
        count(),
        min(start_offset),
        max(end_offset),
        sum(cityHash64(start_offset)),
        sum(cityHash64(end_offset)),
        countIf(end_offset <= start_offset),
        countIf(consumed != aggregated + rejected + late + overflow + unmapped),
        sum(consumed),
        sum(aggregated),
        sum(rejected),
        sum(late),
        sum(overflow),
        sum(unmapped),
        sum(weight),
        sum(late_merged),
        sum(removed_events),
        sum(removed_offsets),
        sum(samples),
        minOrNullIf(window_min, samples > 0),
        min(flushed_at),
        max(flushed_at),
        max(watermark),
        argMax(leader_epoch, end_offset),
        maxIf(flushed_at, aggregated + overflow > 0),
        argMaxIf(window_max, (flushed_at, end_offset), aggregated + overflow > 0)
    GROUP BY group_id, topic, partition, log_id
);

ALTER TABLE flushes MATERIALIZE PROJECTION by_log;
