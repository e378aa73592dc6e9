-- What was delivered of the anomalies in outbox_events.sql: the last settled revision, and the last accepted one
-- (revision 0: none was); where none was, whether one may have arrived all the same.
SELECT
    receiver,
    id,
    maxIf(revision, outcome IN ('accepted', 'refused', 'expired', 'skipped')) AS settled_revision,
    maxIf(revision, outcome = 'accepted') AS accepted_revision,
    argMaxIf(state, (revision, at), outcome = 'accepted') AS accepted_state,
    groupUniqArrayIf(severity, outcome = 'accepted') AS accepted_severities,
    -- An accepted revision that expired for some recipients is not tried again for them.
    if(
        maxIf(revision, outcome = 'expired') = accepted_revision
            AND maxIf((revision, at), outcome = 'expired') > maxIf((revision, at), outcome = 'accepted'),
        '',
        argMaxIf(memory, (revision, at), outcome = 'accepted')
    ) AS accepted_memory,
    toUnixTimestamp64Milli(maxIf(at, outcome = 'accepted')) AS accepted_ms,
    argMax(d.may_have_arrived, (at, attempt, outcome != 'begun')) AS may_have_arrived
FROM deliveries AS d
WHERE receiver IN {receivers:Array(String)}
  AND id IN
  (
      SELECT id
      FROM anomalies
      WHERE incident_id = ''
      GROUP BY id
      HAVING argMax(state, revision) != 'resolved' OR max(written_at) >= fromUnixTimestamp64Milli({sinceMs:Int64}, 'UTC')
  )
GROUP BY receiver, id
