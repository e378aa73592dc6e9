-- Up to where windows are evaluated (0 before the first one), and how many anomalies are open.
SELECT
    (
        SELECT toUnixTimestamp64Milli(max(judged_until))
        FROM detector_progress
        WHERE detector = {detector:String}
    ) AS evaluated_ms,
    (SELECT count() FROM anomalies_current WHERE incident_id = '' AND state != 'resolved') AS open_anomalies
