-- How far each revision of some anomalies came at each receiver: its last outcome, and how many attempts it took.
SELECT
    id,
    receiver,
    revision,
    any(d.state) AS state,
    argMax(d.outcome, (d.at, d.attempt, d.outcome IN ('refused', 'expired', 'skipped'))) AS last_outcome,
    argMax(d.answer, (d.at, d.attempt, d.outcome IN ('refused', 'expired', 'skipped'))) AS last_answer,
    countIf(d.outcome NOT IN ('refused', 'expired', 'skipped')) AS attempts,
    toUnixTimestamp64Milli(max(d.at)) AS last_ms
FROM deliveries AS d
WHERE d.id IN {ids:Array(String)} AND d.outcome != 'begun'
GROUP BY id, receiver, revision
ORDER BY id, last_ms, receiver, revision
LIMIT {limit:UInt32}
