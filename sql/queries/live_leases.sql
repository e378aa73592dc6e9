-- Who holds a lease of a kind ('ingest', 'migrate'), and for how many seconds more.
SELECT
    holder,
    dateDiff('second', now64(3), max(l.renewed_at) + toIntervalSecond(argMax(l.seconds, l.renewed_at))) AS seconds_left
FROM leases AS l
WHERE kind = {kind:String}
GROUP BY holder
HAVING max(l.renewed_at) + toIntervalSecond(argMax(l.seconds, l.renewed_at)) > now64(3)
ORDER BY holder
