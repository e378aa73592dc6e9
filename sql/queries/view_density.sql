-- Requests of a model over time by the band of their total, a row a step, also where there was no request.
SELECT
    intDiv(toUnixTimestamp(window_start), {stepSeconds:UInt32}) * {stepSeconds:UInt32} AS at_seconds,
    sum(l.requests) AS requests,
    sumMap(l.bands) AS bands
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
GROUP BY at_seconds
ORDER BY at_seconds WITH FILL FROM {fromSeconds:UInt32} TO {toSeconds:UInt32} STEP {stepSeconds:UInt32}
