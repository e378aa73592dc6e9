-- Tails of each stage, and of each value of {by:Identifier}, over a range (by: `stage`, or a dimension; `attributes` with
-- the name of an own one in {byAttribute}): of the windows of one table (latency_10s, latency_1m, latency_1h or
-- latency_1d), and, for the part in the middle that they fill, of the next coarser one. The range should
-- begin and end on whole windows of the finer table, the middle on whole windows of the coarser.
--
-- Percentiles count requests that were given up as if they had ended. Where there are some (censored), one from
-- at_least_from_ms on is a lower bound, and ended_digest, censored_digest and mixed_digest have what the true ones are
-- computed of: docs/explained/given-up.md.
SELECT
    model,
    stage,
    value,
    sum(l.requests) AS requests,
    sum(l.errors) + sum(l.timeouts) AS failed,
    sum(l.sum_ms) / sum(l.requests) AS mean_ms,
    sum(l.censored) AS censored,
    if(
        censored = 0,
        finalizeAggregation(quantilesTDigestMergeStateIf(0.5, 0.9, 0.95, 0.99, 0.999)(l.latency, NOT l.has_censored) AS whole),
        finalizeAggregation(
            whole
            + (quantilesTDigestMergeStateIf(0.5, 0.9, 0.95, 0.99, 0.999)(l.ended_latency, l.has_censored) AS ended)
            + (quantilesTDigestMergeStateIf(0.5, 0.9, 0.95, 0.99, 0.999)(l.censored_latency, l.has_censored) AS given_up))) AS q,
    q[1] AS p50_ms, q[2] AS p90_ms, q[3] AS p95_ms, q[4] AS p99_ms, q[5] AS p999_ms,
    min(l.min_ms) AS min_ms,
    max(l.max_ms) AS max_ms,
    if(censored = 0, '', base64Encode(unhex(hex(whole + ended)))) AS ended_digest,
    if(
        censored = 0,
        '',
        base64Encode(unhex(hex(
            given_up + (quantilesTDigestMergeStateIf(0.5, 0.9, 0.95, 0.99, 0.999)(l.censored_latency, NOT l.has_censored) AS mixed))))) AS censored_digest,
    if(censored = 0, '', base64Encode(unhex(hex(mixed)))) AS mixed_digest,
    if(censored = 0, NULL, quantilesTDigestMerge(0)(l.censored_latency)[1] * 255 / 256) AS at_least_from_ms
FROM
(
    SELECT
        model, stage,
        if({byAttribute:String} = '' OR attributes = '__other__', toString({by:Identifier}), attribute[{byAttribute:String}]) AS value,
        requests, errors, timeouts, sum_ms, min_ms, max_ms, latency, censored, censored_latency, has_censored, ended_latency
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
        requests, errors, timeouts, sum_ms, min_ms, max_ms, latency, censored, censored_latency, has_censored, ended_latency
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
