-- Samples of chunks whose rows are stored and whose ledger row is not: being stored right now, or
-- left by a process that died and not yet taken up by its successor.
SELECT sum(l.samples) AS samples
FROM chunk_landings AS l
WHERE (group_id, topic, partition, log_mark, start_offset) NOT IN
  (
      -- A ledger row is never older than the rows it is of; an hour, in case the clock was set back.
      SELECT group_id, topic, partition, log_mark, start_offset FROM flushes
      WHERE flushed_at >= (SELECT min(inserted_at) FROM chunk_landings) - toIntervalHour(1)
  )
