-- A quantile of the past by day and part of the day, of all durations. Where requests were given up (censored), the digests
-- have what it is computed of: docs/explained/given-up.md.
SELECT
    intDiv(toUnixTimestamp(window_start) % 86400, {slotSeconds:UInt32}) * {slotSeconds:UInt32} AS slot_seconds,
    intDiv(toUnixTimestamp(window_start), 86400) AS day,
    min(l.min_ms) AS min_ms,
    max(l.max_ms) AS max_ms,
    sum(l.censored) AS censored,
    if(
        censored = 0,
        finalizeAggregation(quantilesTDigestMergeStateIf({quantiles:Float64})(l.latency, NOT l.has_censored) AS whole),
        finalizeAggregation(
            whole
            + (quantilesTDigestMergeStateIf({quantiles:Float64})(l.ended_latency, l.has_censored) AS ended)
            + (quantilesTDigestMergeStateIf({quantiles:Float64})(l.censored_latency, l.has_censored) AS given_up)))[1] AS ms,
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
  AND (toUnixTimestamp(window_start) + 86400 - {firstSlot:UInt32}) % 86400 < {slots:UInt32} * {slotSeconds:UInt32}
  AND ({version:String} = '' OR version = {version:String})
  AND ({region:String} = '' OR region = {region:String})
  AND ({requestType:String} = '' OR request_type = {requestType:String})
  AND (empty({attributePairs:Array(String)}) OR arrayAll(pair -> if(position(pair, '=') < length(pair),
      has(splitByChar(',', attributes), pair),
      attributes != '__other__' AND position(concat(',', attributes), concat(',', pair)) = 0), {attributePairs:Array(String)}))
  AND ({coldStart:String} = '' OR cold_start = ({coldStart:String} = 'true'))
GROUP BY day, slot_seconds
ORDER BY slot_seconds, day
