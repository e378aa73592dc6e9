-- Quantiles of the requests of a model, a row a value of {by:Identifier} (`attributes` with
-- the name of an own dimension in {byAttribute}): of the windows of one table, and, for the
-- part in the middle that they fill, of the next coarser one, as in tails.sql. Sums are of whole microseconds and
-- quantiles of 32 bits: neither leaves the range of the values. Where
-- requests were given up (censored), the digests have what an answer's quantiles are computed of: docs/explained/given-up.md.
-- The values with most requests come first; beyond the limit, `all_rows` and `all_requests` count the others too.
SELECT
    value AS by,
    sum(l.requests) AS requests,
    count() OVER () AS all_rows,
    sum(requests) OVER () AS all_requests,
    sum(l.errors) + sum(l.timeouts) AS failed,
    min(l.min_ms) AS min_ms,
    max(l.max_ms) AS max_ms,
    least(greatest(sum(l.sum_ms) / sum(l.requests), min_ms), max_ms) AS mean_ms,
    sum(l.censored) AS censored,
    arrayMap(ms -> least(greatest(ms, min_ms), max_ms),
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
FROM
(
    SELECT
        if({byAttribute:String} = '' OR attributes = '__other__', toString({by:Identifier}), attribute[{byAttribute:String}]) AS value,
        requests, errors, timeouts, sum_ms, min_ms, max_ms, latency, censored, censored_latency, has_censored, ended_latency
    FROM {coarseTable:Identifier}
    WHERE model = {model:String}
      AND window_start >= toDateTime({coarseFromSeconds:UInt32}, 'UTC')
      AND window_start < toDateTime({coarseToSeconds:UInt32}, 'UTC')
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
        if({byAttribute:String} = '' OR attributes = '__other__', toString({by:Identifier}), attribute[{byAttribute:String}]) AS value,
        requests, errors, timeouts, sum_ms, min_ms, max_ms, latency, censored, censored_latency, has_censored, ended_latency
    FROM {table:Identifier}
    WHERE model = {model:String}
      AND window_start >= toDateTime({fromSeconds:UInt32}, 'UTC')
      AND window_start < toDateTime({toSeconds:UInt32}, 'UTC')
      AND NOT (window_start >= toDateTime({coarseFromSeconds:UInt32}, 'UTC')
          AND window_start < toDateTime({coarseToSeconds:UInt32}, 'UTC'))
      AND ({stage:String} = '' AND NOT startsWith(stage, 'objective: ') OR stage = {stage:String})
      AND ({version:String} = '' OR version = {version:String})
      AND ({region:String} = '' OR region = {region:String})
      AND ({requestType:String} = '' OR request_type = {requestType:String})
      AND (empty({attributePairs:Array(String)}) OR arrayAll(pair -> if(position(pair, '=') < length(pair),
          has(splitByChar(',', attributes), pair),
          attributes != '__other__' AND position(concat(',', attributes), concat(',', pair)) = 0), {attributePairs:Array(String)}))
      AND ({coldStart:String} = '' OR cold_start = ({coldStart:String} = 'true'))
) AS l
GROUP BY by
HAVING requests > 0
ORDER BY by = 'inter_token_latency', requests DESC, by = 'total' DESC, by
LIMIT {limit:UInt32}
