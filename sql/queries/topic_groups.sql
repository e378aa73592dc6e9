-- Groups that have stored chunks of a topic within a day, by topic. Imports of files are left out: each is a
-- group of its own. Reads the ledger's summary, not its chunks.
SELECT topic, arraySort(groupArray(group_id)) AS groups
FROM
(
    SELECT topic, group_id
    FROM flushes
    WHERE NOT startsWith(group_id, 'file/')
    GROUP BY topic, group_id
    HAVING max(flushed_at) >= now64(3) - INTERVAL 1 DAY
)
GROUP BY topic
ORDER BY topic
