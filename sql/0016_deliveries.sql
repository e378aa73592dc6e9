-- Each attempt to deliver an event of `anomalies` to a receiver. An event is due at a receiver until a row here
-- says that its revision, or a later one, was accepted, refused, expired or skipped.
CREATE TABLE deliveries
(
    receiver LowCardinality(String),
    id       String,
    revision UInt32,
    -- From 1; 0 where a revision was settled without an attempt.
    attempt  UInt32,
    -- accepted, failed, rejected, unacceptable; refused, expired, skipped.
    outcome  LowCardinality(String),
    -- minimal: summary, times and link, after the receiver refused all of it.
    form     LowCardinality(String),
    state    LowCardinality(String),
    severity LowCardinality(String),
    -- The receiver's words.
    answer   String,
    -- What the next delivery of this anomaly needs to know, such as the message to edit.
    memory   String,
    at       DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree
ORDER BY (receiver, id, revision, at, attempt, outcome);

-- Receivers, and since when each has been configured: what was over before then is not due at it.
CREATE TABLE receivers
(
    receiver String,
    since    DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree
ORDER BY (receiver, since);

-- What nobody is notified of, from when to when. A row with a later `written_at` replaces the earlier one.
CREATE TABLE mutes
(
    id         String,
    from_time  DateTime64(3, 'UTC'),
    until_time DateTime64(3, 'UTC'),
    -- Patterns of models, and kinds; empty for all.
    models     Array(String),
    kinds      Array(LowCardinality(String)),
    -- Patterns by dimension.
    dimensions Map(LowCardinality(String), String),
    why        String,
    who        String,
    written_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(written_at)
ORDER BY id
TTL toDateTime(until_time) + toIntervalDay(400);
