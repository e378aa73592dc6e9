-- When a group stored its first chunk of a topic in a cluster. No row if it has none.
SELECT toUnixTimestamp64Milli(min(flushed_at)) AS first_ms
FROM flushes
WHERE group_id = {groupId:String} AND topic = {topic:String} AND substringIndex(log_id, '/', 1) = {clusterId:String}
HAVING count() > 0
