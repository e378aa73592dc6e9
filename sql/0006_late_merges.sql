-- Events of the chunk (among aggregated and overflow) that were merged into a window whose end and
-- grace their partition's watermark had already passed: such a window was judged without them.
ALTER TABLE flushes ADD COLUMN IF NOT EXISTS late_merged UInt64 DEFAULT 0 AFTER overflow;

-- The ledger is looked at by the time of storing, landing rows by their arrival: what runs every
-- half minute reads the last of each and not the whole table.
ALTER TABLE flushes ADD INDEX IF NOT EXISTS flushed_at_range flushed_at TYPE minmax GRANULARITY 1;

ALTER TABLE chunk_rows ADD INDEX IF NOT EXISTS inserted_at_range inserted_at TYPE minmax GRANULARITY 1;
