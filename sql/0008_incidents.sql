-- One cause may hit many series: what is told is then one anomaly, and the series' own are rows that name it.
ALTER TABLE anomalies ADD COLUMN IF NOT EXISTS incident_id String DEFAULT '' AFTER dedup_key;

DROP VIEW IF EXISTS anomalies_current SYNC;

CREATE VIEW anomalies_current AS
SELECT * FROM anomalies FINAL ORDER BY revision DESC LIMIT 1 BY id;
