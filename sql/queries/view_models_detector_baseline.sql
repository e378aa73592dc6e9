-- p99 of models over the hour that the detector takes for its baseline, without the minutes in which an anomaly of their
-- durations was open: from digests ({digests:Bool}), with what it is computed of where requests were given up, or from
-- bands as in view_models.sql. None where fewer than ten requests lie beyond it.
WITH
    spans AS
    (
        SELECT
            model,
            groupArray(toUnixTimestamp(started_at)) AS starts,
            groupArray(if(state = 'resolved', toUnixTimestamp(ifNull(resolved_at, started_at)), toUInt32(4294967295))) AS ends
        FROM anomalies_current
        WHERE kind = 'tail_shift'
          AND model IN {models:Array(String)}
          AND started_at < toDateTime({toSeconds:UInt32}, 'UTC')
          AND (state != 'resolved' OR ifNull(resolved_at, started_at) >= toDateTime({fromSeconds:UInt32}, 'UTC'))
        GROUP BY model
    ),
    learnt AS
    (
        SELECT l.model AS model, l.min_ms AS min_ms, l.max_ms AS max_ms, l.bands AS bands, l.latency AS latency,
            l.censored AS censored, l.censored_latency AS censored_latency, l.has_censored AS has_censored,
            l.ended_latency AS ended_latency
        FROM latency_1m AS l
        LEFT JOIN spans AS s ON s.model = l.model
        WHERE l.stage = 'total'
          AND l.model IN {models:Array(String)}
          AND l.window_start >= toDateTime({fromSeconds:UInt32}, 'UTC')
          AND l.window_start < toDateTime({toSeconds:UInt32}, 'UTC')
          AND ({version:String} = '' OR l.version = {version:String})
          AND ({region:String} = '' OR l.region = {region:String})
          AND ({requestType:String} = '' OR l.request_type = {requestType:String})
          AND (empty({attributePairs:Array(String)}) OR arrayAll(pair -> if(position(pair, '=') < length(pair),
              has(splitByChar(',', l.attributes), pair),
              l.attributes != '__other__' AND position(concat(',', l.attributes), concat(',', pair)) = 0), {attributePairs:Array(String)}))
          AND ({coldStart:String} = '' OR l.cold_start = ({coldStart:String} = 'true'))
          AND NOT arrayExists(
              (start, end) -> toUnixTimestamp(l.window_start) + 60 > start AND toUnixTimestamp(l.window_start) < end,
              s.starts, s.ends)
    ),
    merged AS
    (
        SELECT
            model,
            min(l.min_ms) AS least_ms,
            max(l.max_ms) AS largest_ms,
            if({digests:Bool}, sum(l.censored), 0) AS censored,
            if(
                censored = 0,
                finalizeAggregation(quantilesTDigestMergeStateIf(0.99)(l.latency, {digests:Bool} AND NOT l.has_censored) AS whole),
                finalizeAggregation(
                    whole
                    + (quantilesTDigestMergeStateIf(0.99)(l.ended_latency, {digests:Bool} AND l.has_censored) AS ended)
                    + (quantilesTDigestMergeStateIf(0.99)(l.censored_latency, {digests:Bool} AND l.has_censored) AS given_up)))[1] AS exact_ms,
            if(censored = 0, '', base64Encode(unhex(hex(whole + ended)))) AS ended_digest,
            if(
                censored = 0,
                '',
                base64Encode(unhex(hex(
                    given_up + (quantilesTDigestMergeStateIf(0.99)(l.censored_latency, {digests:Bool} AND NOT l.has_censored) AS mixed))))) AS censored_digest,
            if(censored = 0, '', base64Encode(unhex(hex(mixed)))) AS mixed_digest,
            mapSort(sumMap(l.bands)) AS amounts,
            arrayCumSum(mapValues(amounts)) AS sums,
            arrayFirstIndex(sum -> sum >= 0.99 * sums[-1], sums) AS found,
            mapKeys(amounts)[found] AS band
        FROM learnt AS l
        GROUP BY model
        HAVING sums[-1] >= 1000
    )
SELECT
    model,
    if({digests:Bool}, exact_ms, least(largest_ms, greatest(least_ms,
        exp2(floor(band / 4))
        * (1 + (band - 4 * floor(band / 4) + (0.99 * sums[-1] - sums[found]) / mapValues(amounts)[found] + 1) / 4)))) AS p99_ms,
    (censored, ended_digest, censored_digest, mixed_digest, least_ms, largest_ms) AS given_up_digests
FROM merged
