-- Which server and which tables an address leads to, and the server's time. Servers restored from one copy
-- may share their own id; their tables have others.
SELECT
    toString(serverUUID()) AS server,
    toString(any(uuid)) AS tables,
    count() AS found,
    toUnixTimestamp64Milli(now64(3)) AS now_ms
FROM system.tables
WHERE database = currentDatabase() AND name = 'flushes'
