-- When each receiver last accepted an event (0: never), and how its last attempt went.
SELECT
    receiver,
    toUnixTimestamp64Milli(maxIf(d.at, d.outcome = 'accepted')) AS accepted_ms,
    argMax(d.outcome, (d.at, d.attempt)) AS last_outcome,
    argMax(d.answer, (d.at, d.attempt)) AS last_answer
FROM deliveries AS d
WHERE d.receiver IN {receivers:Array(String)} AND d.attempt > 0 AND d.outcome != 'begun'
GROUP BY receiver
ORDER BY receiver
