-- Events that may still be due at a receiver: of anomalies that are open, or whose last event is of that time or later.
SELECT id, revision, body, toUnixTimestamp64Milli(written_at) AS written_ms
FROM anomalies FINAL
WHERE incident_id = ''
  AND id IN
  (
      SELECT id
      FROM anomalies
      WHERE incident_id = ''
      GROUP BY id
      HAVING argMax(state, revision) != 'resolved' OR max(written_at) >= fromUnixTimestamp64Milli({sinceMs:Int64}, 'UTC')
  )
ORDER BY started_at, id, revision
