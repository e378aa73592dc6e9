-- Users with no more rights than their part needs. Run once as an administrator, with passwords of
-- your own, after `tailmark migrate` (which itself needs a user that may create tables). The views
-- that fill the latency tables run with the rights of the user that migrated: do not drop that one.

-- `tailmark run --roles ingest`: adds chunks and ledger rows, reads the ledger, and which chunks have
-- landed with how many samples (but nothing of what is in them).
CREATE USER IF NOT EXISTS tailmark_writer IDENTIFIED WITH sha256_password BY 'change-me-writer';
GRANT INSERT ON tailmark.chunk_rows TO tailmark_writer;
GRANT SELECT ON tailmark.chunk_landings TO tailmark_writer;
-- Which tables have a chunk, and nothing of what they hold of it.
GRANT SELECT(window_start, chunk_marks) ON tailmark.latency_10s TO tailmark_writer;
GRANT SELECT(window_start, chunk_marks) ON tailmark.latency_1m TO tailmark_writer;
GRANT SELECT(window_start, chunk_marks) ON tailmark.latency_1h TO tailmark_writer;
GRANT SELECT(window_start, chunk_marks) ON tailmark.latency_1d TO tailmark_writer;
GRANT SELECT(window_start, chunk_marks) ON tailmark.drivers_1m TO tailmark_writer;
GRANT SELECT(window_start, chunk_marks) ON tailmark.exemplars TO tailmark_writer;
GRANT INSERT, SELECT ON tailmark.flushes TO tailmark_writer;
GRANT SELECT ON tailmark.schema_migrations TO tailmark_writer;
-- Keeps migrations away while it runs.
GRANT INSERT, SELECT ON tailmark.leases TO tailmark_writer;

-- `tailmark run --roles detect`: reads windows, adds anomalies, keeps what it has learnt.
CREATE USER IF NOT EXISTS tailmark_detector IDENTIFIED WITH sha256_password BY 'change-me-detector';
GRANT SELECT ON tailmark.latency_10s TO tailmark_detector;
GRANT SELECT ON tailmark.latency_1m TO tailmark_detector;
GRANT SELECT ON tailmark.latency_1h TO tailmark_detector;
GRANT SELECT ON tailmark.latency_1d TO tailmark_detector;
GRANT SELECT ON tailmark.drivers_1m TO tailmark_detector;
GRANT SELECT ON tailmark.exemplars TO tailmark_detector;
GRANT SELECT ON tailmark.flushes TO tailmark_detector;
GRANT SELECT ON tailmark.schema_migrations TO tailmark_detector;
GRANT INSERT, SELECT ON tailmark.anomalies TO tailmark_detector;
GRANT SELECT ON tailmark.anomalies_current TO tailmark_detector;
GRANT INSERT, SELECT ON tailmark.deliveries TO tailmark_detector;
GRANT INSERT, SELECT ON tailmark.receivers TO tailmark_detector;
-- INSERT for `tailmark mute` and POST /v1/mutes: leave it out where nobody is to mute by this user.
GRANT INSERT, SELECT ON tailmark.mutes TO tailmark_detector;
GRANT INSERT, SELECT ON tailmark.baselines TO tailmark_detector;
GRANT INSERT, SELECT ON tailmark.detector_progress TO tailmark_detector;
GRANT INSERT, SELECT ON tailmark.detector_state TO tailmark_detector;
GRANT INSERT, SELECT ON tailmark.detector_snapshots TO tailmark_detector;

-- Dashboards, Grafana, `tailmark tails|anomalies|verify`: reads, and nothing else.
CREATE USER IF NOT EXISTS tailmark_reader IDENTIFIED WITH sha256_password BY 'change-me-reader';
GRANT SELECT ON tailmark.* TO tailmark_reader;
