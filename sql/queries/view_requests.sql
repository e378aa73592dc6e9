-- The slowest requests that are kept, of a model over a range, with their stages: those with one stage by the time in
-- it ({stage:String}, or what no stage measured), or all by their total. Failed ones come last and have places of their own: a
-- time-out takes as long as its limit, in whatever stage it was.
SELECT
    toUnixTimestamp64Milli(event_time) AS at_ms,
    total_ms,
    status,
    version,
    request_type,
    region,
    host,
    cold_start,
    trace_id,
    request_id,
    stages_ms,
    status IN ('error', 'timeout') AS is_failed,
    multiIf(
        {stage:String} IN ('', 'total'), total_ms,
        {stage:String} = 'unaccounted', total_ms - arraySum(mapValues(mapFilter(
            (name, ms) -> name NOT IN {measures:Array(String)}
                AND NOT (match(name, {milestones:String}) AND NOT match(name, {noMilestones:String})),
            stages_ms))),
        stages_ms[{stage:String}]) AS stage_ms
FROM exemplars
WHERE model = {model:String}
  AND window_start >= toDateTime({fromSeconds:UInt32}, 'UTC')
  AND window_start < toDateTime({toSeconds:UInt32}, 'UTC')
  AND ({version:String} = '' OR version = {version:String})
  AND ({region:String} = '' OR region = {region:String})
  AND ({requestType:String} = '' OR request_type = {requestType:String})
  AND (empty({attributePairs:Array(String)}) OR arrayAll(pair -> if(position(pair, '=') < length(pair),
      has(splitByChar(',', attributes), pair),
      attributes != '__other__' AND position(concat(',', attributes), concat(',', pair)) = 0), {attributePairs:Array(String)}))
  AND ({coldStart:String} = '' OR cold_start = ({coldStart:String} = 'true'))
  AND ({stage:String} IN ('', 'total', 'unaccounted') OR mapContains(stages_ms, {stage:String}))
ORDER BY is_failed, stage_ms DESC, total_ms DESC, event_time, trace_id, request_id
LIMIT {limit:UInt32} BY is_failed
