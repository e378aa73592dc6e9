-- Groups that have stored chunks of a topic, by topic and log: when each did last, and how long ago that is. A topic
-- that was deleted and recreated, and one of another cluster, is another log. Imports of files are left out: each is a
-- group of its own. Reads the ledger's summary, not its chunks.
SELECT
    topic,
    substringIndex(log_id, '#', 1) AS log,
    group_id,
    toUnixTimestamp64Milli(max(stored_at)) AS stored_ms,
    dateDiff('millisecond', max(stored_at), now64(3)) AS age_ms
FROM
(
    SELECT topic, group_id, log_id, max(f.flushed_at) AS stored_at
    FROM flushes AS f
    WHERE NOT startsWith(group_id, 'file/')
    GROUP BY topic, group_id, log_id
)
GROUP BY topic, log, group_id
ORDER BY topic, log, stored_ms DESC, group_id
