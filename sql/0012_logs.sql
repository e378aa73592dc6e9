-- Which log offsets are of: `<cluster id>/<topic id>`. A topic of the same name in another cluster, or one
-- that was deleted and recreated, is another log; a truncated log goes on as `<cluster id>/<topic id>#2`.
-- Ranges of offsets tile within a log.
--
-- leader_epoch is that of the chunk's last record (KIP-101): with it Kafka says whether the log was
-- truncated since. log_mark is the log's id as a number, for the landing rows.
ALTER TABLE flushes
    ADD COLUMN IF NOT EXISTS log_id LowCardinality(String) DEFAULT '' AFTER partition,
    ADD COLUMN IF NOT EXISTS log_mark UInt64 DEFAULT 0 AFTER log_id,
    ADD COLUMN IF NOT EXISTS leader_epoch Int32 DEFAULT -1 AFTER watermark;

ALTER TABLE chunk_rows ADD COLUMN IF NOT EXISTS log_mark UInt64 DEFAULT 0 CODEC(ZSTD(1)) AFTER partition;

-- The summary of 0011_ledger_summary.sql, a row a log.
ALTER TABLE flushes DROP PROJECTION IF EXISTS by_partition;

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
        max(watermark),
        argMax(leader_epoch, end_offset),
        maxIf(flushed_at, aggregated + overflow > 0),
        argMaxIf(window_max, (flushed_at, end_offset), aggregated + overflow > 0)
    GROUP BY group_id, topic, partition, log_id
);

ALTER TABLE flushes MATERIALIZE PROJECTION by_log;
