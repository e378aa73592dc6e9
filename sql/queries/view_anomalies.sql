-- Anomalies of a range as they stand: those that were open in it, the newest first, from a cursor on. One that hits
-- several series is one, listed for the model of each. `open_body`: of a resolved one its newest event before its end,
-- which says what it was. `accepted_by`: receivers that accepted it while it was open.
WITH listed AS
(
    SELECT *
    FROM anomalies_current
    WHERE incident_id = ''
      AND started_at < fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')
      AND (state != 'resolved' OR ifNull(resolved_at, started_at) >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC'))
      AND ({model:String} = '' OR model = {model:String}
          OR id IN (SELECT incident_id FROM anomalies_current WHERE model = {model:String} AND incident_id != ''))
      AND ({state:String} = '' OR ({state:String} = 'open' AND state != 'resolved') OR state = {state:String})
      AND (toUnixTimestamp64Milli(started_at), id) < ({beforeMs:Int64}, {beforeId:String})
    ORDER BY started_at DESC, id DESC
    LIMIT {limit:UInt32}
)
SELECT
    id,
    model,
    kind,
    severity,
    state,
    stage,
    toUnixTimestamp64Milli(started_at) AS started_ms,
    if(resolved_at IS NULL, NULL, toUnixTimestamp64Milli(assumeNotNull(resolved_at))) AS resolved_ms,
    if(kind = 'pipeline', 0, greatest(1, JSONExtractUInt(body, 'scope', 'affected'))) AS series,
    accepted_by,
    body,
    open_body
FROM listed
LEFT JOIN
(
    SELECT id, argMax(body, revision) AS open_body
    FROM anomalies
    WHERE state != 'resolved' AND id IN (SELECT id FROM listed WHERE state = 'resolved')
    GROUP BY id
) AS opened USING (id)
LEFT JOIN
(
    SELECT id, arraySort(groupUniqArray(receiver)) AS accepted_by
    FROM deliveries
    WHERE outcome = 'accepted' AND state != 'resolved' AND id IN (SELECT id FROM listed)
    GROUP BY id
) AS accepted USING (id)
ORDER BY started_ms DESC, id DESC
