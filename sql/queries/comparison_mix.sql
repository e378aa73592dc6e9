-- The requests of one side of a comparison by type and region, with a mergeable t-digest of their totals; those with most
-- requests first. In RowBinary: see src/views/comparison/read-sides.ts.
SELECT
    toString(request_type) AS type,
    toString(region) AS place,
    sum(l.requests) AS n,
    quantilesTDigestMergeState(0.5, 0.9, 0.95, 0.99, 0.999)(l.latency)
FROM {table:Identifier} AS l
WHERE model = {model:String}
  AND stage = 'total'
  AND window_start >= toDateTime({fromSeconds:UInt32}, 'UTC')
  AND window_start < toDateTime({toSeconds:UInt32}, 'UTC')
  AND ({version:String} = '' OR version = {version:String})
  AND ({region:String} = '' OR region = {region:String})
  AND ({requestType:String} = '' OR request_type = {requestType:String})
  AND (empty({attributePairs:Array(String)}) OR arrayAll(pair -> if(position(pair, '=') < length(pair),
      has(splitByChar(',', attributes), pair),
      attributes != '__other__' AND position(concat(',', attributes), concat(',', pair)) = 0), {attributePairs:Array(String)}))
  AND ({coldStart:String} = '' OR cold_start = ({coldStart:String} = 'true'))
GROUP BY type, place
ORDER BY n DESC, type, place
LIMIT {limit:UInt32}
FORMAT RowBinary
