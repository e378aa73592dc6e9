-- One side of a comparison: the requests of a version of a model, or ('') of all its versions, over a range. A row a block
-- of so many seconds, counted from the start of the range, and stage: requests, failures and a mergeable t-digest. Rows of
-- joint objectives have the requests that were counted, and those that missed. In RowBinary: see
-- src/views/comparison/read-sides.ts.
SELECT
    toUInt32(intDiv(toUnixTimestamp(window_start) - {fromSeconds:UInt32}, {blockSeconds:UInt32})) AS block,
    stage,
    sum(l.requests),
    if(startsWith(stage, 'objective: '), toUInt64(sum(l.sum_ms)), sum(l.errors) + sum(l.timeouts)),
    quantilesTDigestMergeState(0.5, 0.9, 0.95, 0.99, 0.999)(l.latency)
FROM {table:Identifier} AS l
WHERE model = {model:String}
  AND stage != 'inter_token_latency'
  AND window_start >= toDateTime({fromSeconds:UInt32}, 'UTC')
  AND window_start < toDateTime({toSeconds:UInt32}, 'UTC')
  AND ({version:String} = '' OR version = {version:String})
  AND ({region:String} = '' OR region = {region:String})
  AND ({requestType:String} = '' OR request_type = {requestType:String})
  AND (empty({attributePairs:Array(String)}) OR arrayAll(pair -> if(position(pair, '=') < length(pair),
      has(splitByChar(',', attributes), pair),
      attributes != '__other__' AND position(concat(',', attributes), concat(',', pair)) = 0), {attributePairs:Array(String)}))
  AND ({coldStart:String} = '' OR cold_start = ({coldStart:String} = 'true'))
GROUP BY block, stage
ORDER BY block, stage
FORMAT RowBinary
