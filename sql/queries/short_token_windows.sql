-- Tables that remember fewer tokens than chunks may need: sent again, such a chunk counts twice.
SELECT
    name AS table_name,
    toUInt64OrZero(extract(engine_full, 'deduplication_window = (\\d+)')) AS tokens_kept
FROM system.tables
WHERE database = currentDatabase()
  AND name IN ('chunk_landings', 'latency_10s', 'latency_1m', 'latency_1h', 'latency_1d', 'drivers_1m', 'exemplars', 'flushes')
  AND tokens_kept < 10000
ORDER BY table_name
