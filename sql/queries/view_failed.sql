-- Failed requests of a model over a range, by status: all that were counted, whether they are kept or not.
SELECT
    status,
    if(status = 'error', sum(errors), sum(timeouts)) AS requests
FROM {table:Identifier}
ARRAY JOIN ['error', 'timeout'] AS status
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
GROUP BY status
