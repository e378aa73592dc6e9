-- Spans and records that no rule maps to an event, by intent: of a topic of spans most are part of a request
-- that another span reports. consumed = aggregated + rejected + late + overflow + unmapped.
--
-- weight are the requests that the aggregated and overflowed events stand for: an event that one in N requests
-- publishes counts N times in every table, and once in the columns before.
ALTER TABLE flushes
    ADD COLUMN IF NOT EXISTS unmapped UInt64 DEFAULT 0 AFTER overflow,
    ADD COLUMN IF NOT EXISTS weight UInt64 DEFAULT aggregated + overflow AFTER unmapped;

-- The summary of 0012_logs.sql with them.
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
