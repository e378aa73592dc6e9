-- Quantiles of a stage of a model over time, a row a step, also where there was no request: its milliseconds are NULL, and
-- it has no quantiles. Of requests that were given up see view_tails.sql.
SELECT
    intDiv(toUnixTimestamp(window_start), {stepSeconds:UInt32}) * {stepSeconds:UInt32} AS at_seconds,
    sum(l.requests) AS requests,
    sum(l.errors) + sum(l.timeouts) AS failed,
    toNullable(min(l.min_ms)) AS min_ms,
    toNullable(max(l.max_ms)) AS max_ms,
    least(greatest(sum(l.sum_ms) / sum(l.requests), min_ms), max_ms) AS mean_ms,
    sum(l.censored) AS censored,
    arrayMap(ms -> least(greatest(ms, min(l.min_ms)), max(l.max_ms)),
        if(
            censored = 0,
            finalizeAggregation(quantilesTDigestMergeStateIf({quantiles:Float64})(l.latency, NOT l.has_censored) AS whole),
            finalizeAggregation(
                whole
                + (quantilesTDigestMergeStateIf({quantiles:Float64})(l.ended_latency, l.has_censored) AS ended)
                + (quantilesTDigestMergeStateIf({quantiles:Float64})(l.censored_latency, l.has_censored) AS given_up)))) AS quantiles_ms,
    if(censored = 0, '', base64Encode(unhex(hex(whole + ended)))) AS ended_digest,
    if(
        censored = 0,
        '',
        base64Encode(unhex(hex(
            given_up + (quantilesTDigestMergeStateIf({quantiles:Float64})(l.censored_latency, NOT l.has_censored) AS mixed))))) AS censored_digest,
    if(censored = 0, '', base64Encode(unhex(hex(mixed)))) AS mixed_digest
FROM {table:Identifier} AS l
WHERE model = {model:String}
  AND stage = {stage:String}
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
