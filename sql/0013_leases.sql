-- Processes that write, and migrations. A lease ends `seconds` after it was last renewed, by the server's
-- clock; 0 gives it back. A migration does not begin while an ingester has one, nor the other way round:
-- each writes its own before it looks for the other's (docs/explained/supported.md, "Leases").
CREATE TABLE leases
(
    kind       LowCardinality(String),
    holder     String,
    seconds    UInt32,
    renewed_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(renewed_at)
ORDER BY (kind, holder)
TTL toDateTime(renewed_at) + toIntervalDay(7);
