-- Anomalies that have not been resolved, for a detector that starts.
SELECT body FROM anomalies_current WHERE state != 'resolved' ORDER BY started_at
