-- Values of a dimension, of an own one ({dimension} is then `attributes`) or of the stage in the requests since a time, of
-- one model or of all (''), and the last window of each; the latest first. For who names a model or a version that may not exist: see src/sink/read-seen-values.ts.
SELECT
    if({attribute:String} = '', toString({dimension:Identifier}), attribute[{attribute:String}]) AS value,
    toUnixTimestamp(max(window_start)) AS last_seconds
FROM {table:Identifier}
WHERE window_start >= toDateTime({fromSeconds:UInt32}, 'UTC')
  AND ({model:String} = '' OR model = {model:String})
  AND NOT startsWith(stage, 'objective: ')
GROUP BY value
ORDER BY last_seconds DESC, value
LIMIT {limit:UInt32}
