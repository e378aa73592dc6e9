-- Start of the first window of a table in a range; no row where it has none.
SELECT toUnixTimestamp(min(window_start)) AS first_seconds
FROM {table:Identifier}
WHERE window_start >= toDateTime({fromSeconds:UInt32}, 'UTC')
  AND window_start < toDateTime({toSeconds:UInt32}, 'UTC')
HAVING count() > 0
