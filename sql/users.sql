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
-- Whether a chunk was abandoned, for the dashboard of its own `serve`.
GRANT SELECT ON tailmark.chunk_landings TO tailmark_detector;
-- INSERT for `tailmark mute` and POST /v1/mutes: leave it out where nobody is to mute by this user.
GRANT INSERT, SELECT ON tailmark.mutes TO tailmark_detector;
GRANT INSERT, SELECT ON tailmark.baselines TO tailmark_detector;
GRANT INSERT, SELECT ON tailmark.detector_progress TO tailmark_detector;
GRANT INSERT, SELECT ON tailmark.detector_state TO tailmark_detector;
GRANT INSERT, SELECT ON tailmark.detector_snapshots TO tailmark_detector;

-- `tailmark run --roles serve` and Grafana: reads what the dashboard shows, within limits that it cannot raise.
-- A query ends after 10 s. A client may ask for 30 s: Grafana's driver sends its own time-out, and 5 s more.
-- A process of tailmark has ten queries at once, so 32 are three processes, or two beside Grafana.
CREATE USER IF NOT EXISTS tailmark_dashboard IDENTIFIED WITH sha256_password BY 'change-me-dashboard'
SETTINGS
    readonly = 2 READONLY,
    max_execution_time = 10 MIN 1 MAX 30,
    max_memory_usage = 2000000000 READONLY,
    max_threads = 2 MIN 1 MAX 2,
    max_concurrent_queries_for_user = 32 READONLY;
GRANT SELECT ON tailmark.latency_10s TO tailmark_dashboard;
GRANT SELECT ON tailmark.latency_1m TO tailmark_dashboard;
GRANT SELECT ON tailmark.latency_1h TO tailmark_dashboard;
GRANT SELECT ON tailmark.latency_1d TO tailmark_dashboard;
GRANT SELECT ON tailmark.drivers_1m TO tailmark_dashboard;
GRANT SELECT ON tailmark.exemplars TO tailmark_dashboard;
GRANT SELECT ON tailmark.flushes TO tailmark_dashboard;
GRANT SELECT ON tailmark.anomalies TO tailmark_dashboard;
GRANT SELECT ON tailmark.anomalies_current TO tailmark_dashboard;
GRANT SELECT ON tailmark.deliveries TO tailmark_dashboard;
GRANT SELECT ON tailmark.receivers TO tailmark_dashboard;
GRANT SELECT ON tailmark.mutes TO tailmark_dashboard;
GRANT SELECT ON tailmark.detector_progress TO tailmark_dashboard;
-- Whether a chunk was abandoned.
GRANT SELECT ON tailmark.chunk_landings TO tailmark_dashboard;
GRANT SELECT ON tailmark.schema_migrations TO tailmark_dashboard;
-- Percentiles of single windows, for Grafana's Explore and for people.
GRANT SELECT ON tailmark.tails_10s TO tailmark_dashboard;
GRANT SELECT ON tailmark.tails_1m TO tailmark_dashboard;
GRANT SELECT ON tailmark.tails_1h TO tailmark_dashboard;
GRANT SELECT ON tailmark.tails_1d TO tailmark_dashboard;
-- For POST /v1/mutes also: leave `readonly` out above, and
-- GRANT INSERT ON tailmark.mutes TO tailmark_dashboard;

-- `tailmark tails|anomalies|verify`: reads, and nothing else.
CREATE USER IF NOT EXISTS tailmark_reader IDENTIFIED WITH sha256_password BY 'change-me-reader';
GRANT SELECT ON tailmark.* TO tailmark_reader;
