-- Groups that have stored chunks of a topic within a day, by topic and Kafka cluster. Imports of files are left out:
-- each is a group of its own. Reads the ledger's summary, not its chunks.
SELECT topic, cluster_id, arraySort(groupUniqArray(group_id)) AS groups
FROM
(
    SELECT topic, group_id, substringIndex(log_id, '/', 1) AS cluster_id
    FROM flushes
    WHERE NOT startsWith(group_id, 'file/')
    GROUP BY topic, group_id, log_id
    HAVING max(flushed_at) >= now64(3) - INTERVAL 1 DAY
)
GROUP BY topic, cluster_id
ORDER BY topic, cluster_id
