-- Two sides of a comparison: versions of a model ('' for all), or ranges. A row a side and stage: quantiles, and what the
-- requests were made of by the band of their total (a quarter octave each). Only blocks of so many seconds, counted from
-- the start of each range, in which both sides have requests. Requests that were given up count as if they had ended;
-- the digests say which quantiles lie beyond the last one that did: docs/explained/given-up.md.
WITH
    (of_region, of_type, of_attributes, is_cold) ->
        ({region:String} = '' OR of_region = {region:String})
        AND ({requestType:String} = '' OR of_type = {requestType:String})
        AND (empty({attributePairs:Array(String)}) OR arrayAll(pair -> if(position(pair, '=') < length(pair),
            has(splitByChar(',', of_attributes), pair),
            of_attributes != '__other__' AND position(concat(',', of_attributes), concat(',', pair)) = 0), {attributePairs:Array(String)}))
        AND ({coldStart:String} = '' OR is_cold = ({coldStart:String} = 'true')) AS is_asked,
    (
        SELECT groupUniqArray(toUInt32(intDiv(toUnixTimestamp(window_start) - {aFromSeconds:UInt32}, {blockSeconds:UInt32})))
        FROM {table:Identifier}
        WHERE model = {model:String}
          AND window_start >= toDateTime({aFromSeconds:UInt32}, 'UTC')
          AND window_start < toDateTime({aToSeconds:UInt32}, 'UTC')
          AND ({aVersion:String} = '' OR version = {aVersion:String})
          AND is_asked(region, request_type, attributes, cold_start)
    ) AS a_blocks,
    (
        SELECT groupUniqArray(toUInt32(intDiv(toUnixTimestamp(window_start) - {bFromSeconds:UInt32}, {blockSeconds:UInt32})))
        FROM {table:Identifier}
        WHERE model = {model:String}
          AND window_start >= toDateTime({bFromSeconds:UInt32}, 'UTC')
          AND window_start < toDateTime({bToSeconds:UInt32}, 'UTC')
          AND ({bVersion:String} = '' OR version = {bVersion:String})
          AND is_asked(region, request_type, attributes, cold_start)
    ) AS b_blocks
SELECT
    side,
    stage,
    sum(s.requests) AS requests,
    sum(s.failures) AS failed,
    min(s.min_ms) AS min_ms,
    max(s.max_ms) AS max_ms,
    sum(s.censored) AS censored,
    arrayMap(
        ms -> least(greatest(ms, min_ms), max_ms),
        if(
            censored = 0,
            finalizeAggregation(quantilesTDigestMergeStateIf({quantiles:Float64})(s.latency, NOT s.has_censored) AS whole),
            finalizeAggregation(
                whole
                + (quantilesTDigestMergeStateIf({quantiles:Float64})(s.ended_latency, s.has_censored) AS ended)
                + (quantilesTDigestMergeStateIf({quantiles:Float64})(s.censored_latency, s.has_censored) AS given_up)))) AS quantiles_ms,
    sumMap(s.bands) AS amounts,
    sumMap(s.bands_ms) AS amounts_ms,
    if(censored = 0, '', base64Encode(unhex(hex(whole + ended)))) AS ended_digest,
    if(
        censored = 0,
        '',
        base64Encode(unhex(hex(
            given_up + (quantilesTDigestMergeStateIf({quantiles:Float64})(s.censored_latency, NOT s.has_censored) AS mixed))))) AS censored_digest,
    if(censored = 0, '', base64Encode(unhex(hex(mixed)))) AS mixed_digest
FROM
(
    SELECT
        'a' AS side,
        toUInt32(intDiv(toUnixTimestamp(window_start) - {aFromSeconds:UInt32}, {blockSeconds:UInt32})) AS block,
        stage, requests, errors + timeouts AS failures, min_ms, max_ms, latency, bands, bands_ms, censored, censored_latency,
        has_censored, ended_latency
    FROM {table:Identifier}
    WHERE model = {model:String}
      AND window_start >= toDateTime({aFromSeconds:UInt32}, 'UTC')
      AND window_start < toDateTime({aToSeconds:UInt32}, 'UTC')
      AND ({aVersion:String} = '' OR version = {aVersion:String})
      AND is_asked(region, request_type, attributes, cold_start)
    UNION ALL
    SELECT
        'b' AS side,
        toUInt32(intDiv(toUnixTimestamp(window_start) - {bFromSeconds:UInt32}, {blockSeconds:UInt32})) AS block,
        stage, requests, errors + timeouts AS failures, min_ms, max_ms, latency, bands, bands_ms, censored, censored_latency,
        has_censored, ended_latency
    FROM {table:Identifier}
    WHERE model = {model:String}
      AND window_start >= toDateTime({bFromSeconds:UInt32}, 'UTC')
      AND window_start < toDateTime({bToSeconds:UInt32}, 'UTC')
      AND ({bVersion:String} = '' OR version = {bVersion:String})
      AND is_asked(region, request_type, attributes, cold_start)
) AS s
WHERE stage != 'inter_token_latency' AND NOT startsWith(stage, 'objective: ')
  AND has(a_blocks, block) AND has(b_blocks, block)
GROUP BY side, stage
ORDER BY side, stage
