-- The ledger: one row per chunk, written after the chunk and all its views are stored. For every
-- group, topic and partition the ranges [start_offset, end_offset) tile what was consumed, and
-- consumed = aggregated + rejected + late + overflow.
CREATE TABLE flushes
(
    group_id        LowCardinality(String),
    topic           LowCardinality(String),
    partition       UInt32,
    start_offset    UInt64,
    end_offset      UInt64,
    first_timestamp DateTime64(3, 'UTC'),
    last_timestamp  DateTime64(3, 'UTC'),
    -- Event time the partition had reached after this chunk.
    watermark       DateTime64(3, 'UTC'),
    records         UInt64,
    consumed        UInt64,
    aggregated      UInt64,
    rejected        UInt64,
    late            UInt64,
    overflow        UInt64,
    -- Sum of `requests` over the chunk's stage rows.
    samples         UInt64,
    row_count       UInt64,
    window_min      DateTime('UTC'),
    window_max      DateTime('UTC'),
    instance        String,
    flushed_at      DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = MergeTree
ORDER BY (group_id, topic, partition, start_offset)
SETTINGS non_replicated_deduplication_window = 100000;
