-- When a group stored its first chunk of a topic in a cluster, and of how many: 0 for none. And which server
-- says so (server_identity.sql).
SELECT
    count() AS chunks,
    toUnixTimestamp64Milli(min(flushed_at)) AS first_ms,
    (
        SELECT concat(toString(serverUUID()), '/', any(if(empty(uuid), database, toString(uuid))))
        FROM system.tables
        WHERE database = currentDatabase() AND name = 'flushes'
    ) AS server
FROM flushes
WHERE group_id = {groupId:String} AND topic = {topic:String} AND substringIndex(log_id, '/', 1) = {clusterId:String}
