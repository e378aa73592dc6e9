-- Engines of the tables that storing a chunk exactly once relies on.
SELECT name AS table_name, engine
FROM system.tables
WHERE database = currentDatabase()
  AND name IN ('chunk_landings', 'latency_10s', 'latency_1m', 'latency_1h', 'latency_1d', 'drivers_1m', 'exemplars',
      'flushes', 'leases', 'schema_migrations')
ORDER BY table_name
