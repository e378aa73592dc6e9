-- Every event of every anomaly, once: the same revision written twice is one row.
CREATE TABLE anomalies
(
    id           String,
    revision     UInt32,
    dedup_key    String,
    state        LowCardinality(String),
    severity     LowCardinality(String),
    kind         LowCardinality(String),
    service      LowCardinality(String),
    model        LowCardinality(String),
    version      LowCardinality(String),
    request_type LowCardinality(String),
    region       LowCardinality(String),
    host         LowCardinality(String),
    tenant       LowCardinality(String),
    cold_start   Bool,
    stage        LowCardinality(String),
    quantile     Float64,
    observed_ms  Float64,
    baseline_ms  Float64,
    ratio        Float64,
    requests     UInt64,
    bottleneck   LowCardinality(String),
    summary      String,
    started_at   DateTime64(3, 'UTC'),
    detected_at  DateTime64(3, 'UTC'),
    resolved_at  Nullable(DateTime64(3, 'UTC')),
    -- The event as it went to the topic and to webhooks, JSON.
    body         String CODEC(ZSTD(3)),
    written_at   DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree
ORDER BY (id, revision)
SETTINGS non_replicated_deduplication_window = 100000;

-- What an anomaly was compared with when it opened.
CREATE TABLE baselines
(
    anomaly_id   String,
    model        LowCardinality(String),
    version      LowCardinality(String),
    request_type LowCardinality(String),
    region       LowCardinality(String),
    cold_start   Bool,
    stage        LowCardinality(String),
    quantile     Float64,
    baseline_ms  Float64,
    dispersion   Float64,
    windows      UInt32,
    baseline_from DateTime64(3, 'UTC'),
    baseline_to   DateTime64(3, 'UTC'),
    written_at   DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree
ORDER BY (anomaly_id, stage, quantile)
SETTINGS non_replicated_deduplication_window = 100000;

-- Each anomaly as it stands.
CREATE VIEW anomalies_current AS
SELECT * FROM anomalies FINAL ORDER BY revision DESC LIMIT 1 BY id;

-- Up to where the detector has judged. A restarted one learns from what lies before, and judges
-- what lies after: nothing is judged twice, nothing is left out.
CREATE TABLE detector_progress
(
    detector     String,
    judged_until DateTime64(3, 'UTC'),
    written_at   DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(judged_until)
ORDER BY detector;
