-- When the tail fell, some minutes before that was noticed (`resolved_at`). NULL while it is open, in events of earlier
-- versions, and of what is the baseline now.
ALTER TABLE anomalies ADD COLUMN IF NOT EXISTS ended_at Nullable(DateTime64(3, 'UTC')) AFTER detected_at;

DROP VIEW IF EXISTS anomalies_current SYNC;

CREATE VIEW anomalies_current AS
SELECT * FROM anomalies FINAL ORDER BY revision DESC LIMIT 1 BY id;
