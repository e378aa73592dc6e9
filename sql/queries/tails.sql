-- Tails of each stage, and of each value of {by:Identifier}, over a range (by: `stage`, or a dimension; `attributes` with
-- the name of an own one in {byAttribute}): of the windows of one table (latency_10s, latency_1m, latency_1h or
-- latency_1d), and, for the part in the middle that they fill, of the next coarser one. The range should
-- begin and end on whole windows of the finer table, the middle on whole windows of the coarser.
--
-- Percentiles count requests that were given up as if they had ended. Where there are some (censored), one from
-- at_least_from_ms on is a lower bound, and all_digest and censored_digest have what the true ones are computed of:
-- docs/explained/given-up.md.
SELECT
    model,
    stage,
    value,
    sum(l.requests) AS requests,
    sum(l.errors) + sum(l.timeouts) AS failed,
    sum(l.sum_ms) / sum(l.requests) AS mean_ms,
    finalizeAggregation(quantilesTDigestMergeState(0.5, 0.9, 0.95, 0.99, 0.999)(l.latency) AS merged) AS q,
    q[1] AS p50_ms, q[2] AS p90_ms, q[3] AS p95_ms, q[4] AS p99_ms, q[5] AS p999_ms,
    min(l.min_ms) AS min_ms,
    max(l.max_ms) AS max_ms,
    sum(l.censored) AS censored,
    if(censored = 0, '', base64Encode(unhex(hex(merged)))) AS all_digest,
    if(censored = 0, '', base64Encode(unhex(hex(quantilesTDigestMergeState(0.5)(l.censored_latency))))) AS censored_digest,
    if(censored = 0, NULL, quantilesTDigestMerge(0)(l.censored_latency)[1] * 255 / 256) AS at_least_from_ms
FROM
(
    SELECT
        model, stage,
        if({byAttribute:String} = '' OR attributes = '__other__', toString({by:Identifier}), attribute[{byAttribute:String}]) AS value,
        requests, errors, timeouts, sum_ms, min_ms, max_ms, latency, censored, censored_latency
    FROM {coarseTable:Identifier}
    WHERE window_start >= toDateTime({coarseFromSeconds:UInt32}, 'UTC')
      AND window_start < toDateTime({coarseToSeconds:UInt32}, 'UTC')
      AND ({model:String} = '' OR model = {model:String})
      AND ({stage:String} = '' AND NOT startsWith(stage, 'objective: ') OR stage = {stage:String})
      AND ({version:String} = '' OR version = {version:String})
      AND ({region:String} = '' OR region = {region:String})
      AND ({requestType:String} = '' OR request_type = {requestType:String})
      AND (empty({attributePairs:Array(String)}) OR arrayAll(pair -> if(position(pair, '=') < length(pair),
          has(splitByChar(',', attributes), pair),
          attributes != '__other__' AND position(concat(',', attributes), concat(',', pair)) = 0), {attributePairs:Array(String)}))
      AND ({coldStart:String} = '' OR cold_start = ({coldStart:String} = 'true'))
    UNION ALL
    SELECT
        model, stage,
        if({byAttribute:String} = '' OR attributes = '__other__', toString({by:Identifier}), attribute[{byAttribute:String}]) AS value,
        requests, errors, timeouts, sum_ms, min_ms, max_ms, latency, censored, censored_latency
    FROM {table:Identifier}
    WHERE window_start >= toDateTime({fromSeconds:UInt32}, 'UTC')
      AND window_start < toDateTime({toSeconds:UInt32}, 'UTC')
      AND NOT (window_start >= toDateTime({coarseFromSeconds:UInt32}, 'UTC')
          AND window_start < toDateTime({coarseToSeconds:UInt32}, 'UTC'))
      AND ({model:String} = '' OR model = {model:String})
      AND ({stage:String} = '' AND NOT startsWith(stage, 'objective: ') OR stage = {stage:String})
      AND ({version:String} = '' OR version = {version:String})
      AND ({region:String} = '' OR region = {region:String})
      AND ({requestType:String} = '' OR request_type = {requestType:String})
      AND (empty({attributePairs:Array(String)}) OR arrayAll(pair -> if(position(pair, '=') < length(pair),
          has(splitByChar(',', attributes), pair),
          attributes != '__other__' AND position(concat(',', attributes), concat(',', pair)) = 0), {attributePairs:Array(String)}))
      AND ({coldStart:String} = '' OR cold_start = ({coldStart:String} = 'true'))
) AS l
GROUP BY model, stage, value
ORDER BY model, stage = 'total' DESC, p99_ms DESC, value
