-- Requests of models over a range, for their rates: of all complete windows by step, and those of the first window, which
-- a model may have begun within unless it has requests in the window before the range. Counted by the total, or of a model without any by the stage that has the most.
SELECT
    model,
    min(start) < {fromSeconds:UInt32} AS has_before,
    minIf(start, start >= {fromSeconds:UInt32}) AS first_seconds,
    argMinIf(window_requests, start, start >= {fromSeconds:UInt32}) AS first_requests,
    sumMapIf(
        map(intDiv(start, {stepSeconds:UInt32}) * {stepSeconds:UInt32}, window_requests),
        start >= {fromSeconds:UInt32} AND start < {completeSeconds:UInt32}) AS by_step
FROM
(
    SELECT model, toUnixTimestamp(window_start) AS start, sum(l.requests) AS window_requests
    FROM {table:Identifier} AS l
    WHERE (model, stage) IN arrayZip({models:Array(String)}, {stages:Array(String)})
      AND window_start >= toDateTime({beforeSeconds:UInt32}, 'UTC')
      AND window_start < toDateTime({toSeconds:UInt32}, 'UTC')
      AND ({version:String} = '' OR version = {version:String})
      AND ({region:String} = '' OR region = {region:String})
      AND ({requestType:String} = '' OR request_type = {requestType:String})
      AND (empty({attributePairs:Array(String)}) OR arrayAll(pair -> if(position(pair, '=') < length(pair),
          has(splitByChar(',', attributes), pair),
          attributes != '__other__' AND position(concat(',', attributes), concat(',', pair)) = 0), {attributePairs:Array(String)}))
      AND ({coldStart:String} = '' OR cold_start = ({coldStart:String} = 'true'))
    GROUP BY model, start
)
GROUP BY model
