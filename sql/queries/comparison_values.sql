-- Values of {by:Identifier} (`attributes` with the name of an own dimension in {byAttribute}) in the requests of one side of a
-- comparison, those with most requests first. A request counts once, however many stages it has.
SELECT value, max(n) AS requests
FROM
(
    SELECT
        if({byAttribute:String} = '' OR attributes = '__other__', toString({by:Identifier}), attribute[{byAttribute:String}]) AS value,
        stage,
        sum(l.requests) AS n
    FROM {table:Identifier} AS l
    WHERE model = {model:String}
      AND stage != 'inter_token_latency' AND NOT startsWith(stage, 'objective: ')
      AND window_start >= toDateTime({fromSeconds:UInt32}, 'UTC')
      AND window_start < toDateTime({toSeconds:UInt32}, 'UTC')
      AND ({version:String} = '' OR version = {version:String})
      AND ({region:String} = '' OR region = {region:String})
      AND ({requestType:String} = '' OR request_type = {requestType:String})
      AND (empty({attributePairs:Array(String)}) OR arrayAll(pair -> if(position(pair, '=') < length(pair),
          has(splitByChar(',', attributes), pair),
          attributes != '__other__' AND position(concat(',', attributes), concat(',', pair)) = 0), {attributePairs:Array(String)}))
      AND ({coldStart:String} = '' OR cold_start = ({coldStart:String} = 'true'))
    GROUP BY value, stage
)
GROUP BY value
ORDER BY requests DESC, value
LIMIT {limit:UInt32}
