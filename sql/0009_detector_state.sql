-- The window whose judging gave the event: a detector that takes over knows by it what was told of
-- windows that it judges again. What was told before it was kept is taken for older than that.
ALTER TABLE anomalies ADD COLUMN IF NOT EXISTS window_start DateTime64(3, 'UTC') DEFAULT started_at;

-- All that a detector has learnt, in parts (one a series), so that the next one goes on as it would
-- have. Two slots take turns: while one is written to, the other holds the snapshot before, and no
-- more of them are kept than that. The format of `state` has versions of its own. `reign` is when the
-- process that writes began to lead: what one sends that does not lead any more replaces nothing.
CREATE TABLE detector_state
(
    detector   String,
    slot       UInt8,
    part       String,
    snapshot   String,
    as_of      DateTime64(3, 'UTC'),
    reign      UInt64,
    state      String CODEC(ZSTD(1)),
    written_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(reign)
ORDER BY (detector, slot, part)
TTL toDateTime(written_at) + toIntervalDay(30);

-- Snapshots of which every part is there: a row is written after the last of them, and after it is on
-- record that all windows before `as_of` are judged and told.
CREATE TABLE detector_snapshots
(
    detector   String,
    as_of      DateTime64(3, 'UTC'),
    snapshot   String,
    slot       UInt8,
    parts      UInt32,
    bytes      UInt64,
    reign      UInt64,
    written_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree
ORDER BY (detector, as_of, snapshot)
TTL toDateTime(written_at) + toIntervalDay(30);
