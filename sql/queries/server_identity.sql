-- Which server and which tables an address leads to, and the server's time. Servers restored from one copy
-- may share their own id; their tables have others. Tables of an old database (engine Ordinary) have none.
SELECT
    concat(toString(serverUUID()), '/', any(if(empty(uuid), database, toString(uuid)))) AS server,
    count() AS found,
    toUnixTimestamp64Milli(now64(3)) AS now_ms
FROM system.tables
WHERE database = currentDatabase() AND name = 'flushes'
