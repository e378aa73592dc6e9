-- What requests of each slowness were made of: slices of the requests, cut at those edges of bands (a quarter octave of a
-- request's total each, band 0 begins at 1 ms) that are next to some quantiles. So every number is exact. A row a slice,
-- the fastest first, or with steps ({stepSeconds} > 0) the slowest slice of each step. No parts are milestones,
-- stages that match {milestones:String} and not {noMilestones:String}, and {measures:Array(String)}.
--
-- Of a milestone ({whole:String}, otherwise 'total') the mean is that of the milestone, and the parts are {only:Array(String)}
-- (empty for all), those before it. Bands are those of the total, so its slowest requests are not a slice.
--
-- The baseline is the same share of the requests over the same hours of the seven days before. A band that the share
-- cuts is split as if all its requests were alike. The part of the range that whole windows of a coarser table fill is
-- read from there.
WITH
    (of_version, of_region, of_type, of_attributes, is_cold) ->
        ({version:String} = '' OR of_version = {version:String})
        AND ({region:String} = '' OR of_region = {region:String})
        AND ({requestType:String} = '' OR of_type = {requestType:String})
        AND (empty({attributePairs:Array(String)}) OR arrayAll(pair -> if(position(pair, '=') < length(pair),
            has(splitByChar(',', of_attributes), pair),
            of_attributes != '__other__' AND position(concat(',', of_attributes), concat(',', pair)) = 0), {attributePairs:Array(String)}))
        AND ({coldStart:String} = '' OR is_cold = ({coldStart:String} = 'true')) AS is_asked,
    (name) -> name != 'total' AND name NOT IN {measures:Array(String)} AND NOT startsWith(name, 'objective: ')
        AND NOT (match(name, {milestones:String}) AND NOT match(name, {noMilestones:String}))
        AND (empty({only:Array(String)}) OR name IN {only:Array(String)}) AS is_part,
    (band) -> exp2(floor(band / 4)) * (1 + positiveModulo(band, 4) / 4) AS lower_edge_ms,
    -- Parts, and `unaccounted` for what no stage measured. Sums are stored within 0.05 %: less than that is rounding.
    (means, mean_ms) -> arraySort(part -> (-part.2, part.1), if(
        abs(mean_ms - arraySum(part -> part.2, means)) < 0.0005 * mean_ms,
        means,
        arrayPushBack(means, ('unaccounted', mean_ms - arraySum(part -> part.2, means))))) AS with_rest
SELECT
    at_seconds,
    from_requests / all_requests AS from_share,
    to_requests / all_requests AS to_share,
    if(first = 0, NULL, lower_edge_ms(all_bands[first + 1])) AS above_ms,
    if(last = length(all_bands), NULL, lower_edge_ms(all_bands[last + 1])) AS below_ms,
    toUInt64(to_requests - from_requests) AS requests,
    arraySum(band -> totals_ms[band], slice_bands) / requests AS mean_ms,
    with_rest(
        arrayMap(s -> (s.1, arraySum(band -> s.2[band], slice_bands) / requests), stages),
        mean_ms) AS parts,
    baseline_all * (to_share - from_share) AS baseline_requests,
    if(baseline_all = 0, NULL,
        arraySum((band, used) -> baseline_ms[band] * used, baseline_bands, used_shares) / baseline_requests) AS baseline_mean_ms,
    if(baseline_all = 0, [],
        with_rest(
            arrayMap(s -> (s.1, arraySum((band, used) -> s.2[band] * used, baseline_bands, used_shares) / baseline_requests), baseline_stages),
            assumeNotNull(baseline_mean_ms))) AS baseline_parts
FROM
(
    SELECT
        *,
        first,
        last,
        arraySlice(all_bands, first + 1, last - first) AS slice_bands,
        if(first = 0, 0, reached[greatest(first, 1)]) AS from_requests,
        reached[last] AS to_requests,
        -- The part of each band of the baseline that lies within the share of the slice.
        arrayMap(
            (end, n) -> greatest(0, least(end, to_requests / all_requests * baseline_all)
                - greatest(end - n, from_requests / all_requests * baseline_all)) / n,
            baseline_reached, baseline_requests_of) AS used_shares
    FROM
    (
        SELECT
            *,
            mapKeys(totals) AS all_bands,
            arrayCumSum(mapValues(totals)) AS reached,
            reached[-1] AS all_requests,
            mapKeys(baseline_totals) AS baseline_bands,
            mapValues(baseline_totals) AS baseline_requests_of,
            arrayCumSum(baseline_requests_of) AS baseline_reached,
            if(empty(baseline_bands), 0, baseline_reached[-1]) AS baseline_all,
            -- Edges next to the quantiles, by the ratio of the requests beyond: edge i is after the band i.
            arrayFilter(i -> i > 0, arraySort(arrayDistinct(arrayMap(
                q -> arraySort(i -> abs(log((1 - reached[i] / all_requests) / (1 - q))), range(1, length(all_bands)))[1],
                {cuts:Array(Float64)})))) AS edges
        FROM
        (
            SELECT
                at_seconds,
                mapSort(sumMapIf(amounts, NOT is_baseline AND stage = 'total')) AS totals,
                sumMapIf(if(stage = 'total', amounts_ms, amounts), NOT is_baseline AND stage = {whole:String}) AS totals_ms,
                mapSort(sumMapIf(amounts, is_baseline AND stage = 'total')) AS baseline_totals,
                sumMapIf(if(stage = 'total', amounts_ms, amounts), is_baseline AND stage = {whole:String}) AS baseline_ms,
                groupArrayIf((stage, amounts), NOT is_baseline AND is_part(stage)) AS stages,
                groupArrayIf((stage, amounts), is_baseline AND is_part(stage)) AS baseline_stages
            FROM
            (
                SELECT
                    is_baseline,
                    at_seconds,
                    stage,
                    sumMap(bands) AS amounts,
                    sumMap(bands_ms) AS amounts_ms
                FROM
                (
                    SELECT
                        false AS is_baseline,
                        {fromSeconds:UInt32} + if({stepSeconds:UInt32} = 0, 0,
                            intDiv(toUnixTimestamp(window_start) - {fromSeconds:UInt32}, greatest({stepSeconds:UInt32}, 1))
                                * {stepSeconds:UInt32}) AS at_seconds,
                        stage, bands, bands_ms
                    FROM {table:Identifier}
                    WHERE model = {model:String}
                      AND window_start >= toDateTime({fromSeconds:UInt32}, 'UTC')
                      AND window_start < toDateTime({toSeconds:UInt32}, 'UTC')
                      AND NOT (window_start >= toDateTime({coarseFromSeconds:UInt32}, 'UTC')
                          AND window_start < toDateTime({coarseToSeconds:UInt32}, 'UTC'))
                      AND is_asked(version, region, request_type, attributes, cold_start)
                    UNION ALL
                    SELECT
                        false AS is_baseline,
                        {fromSeconds:UInt32} AS at_seconds,
                        stage, bands, bands_ms
                    FROM {coarseTable:Identifier}
                    WHERE model = {model:String}
                      AND window_start >= toDateTime({coarseFromSeconds:UInt32}, 'UTC')
                      AND window_start < toDateTime({coarseToSeconds:UInt32}, 'UTC')
                      AND is_asked(version, region, request_type, attributes, cold_start)
                    UNION ALL
                    SELECT
                        true AS is_baseline,
                        {fromSeconds:UInt32} AS at_seconds,
                        stage, bands, bands_ms
                    FROM latency_1h
                    WHERE model = {model:String}
                      AND window_start >= toDateTime({baselineFromSeconds:UInt32}, 'UTC')
                      AND window_start < toDateTime({baselineToSeconds:UInt32}, 'UTC')
                      AND positiveModulo(toUnixTimestamp(window_start) - {baselineToSeconds:UInt32}, 86400) < {baselineSpanSeconds:UInt32}
                      AND is_asked(version, region, request_type, attributes, cold_start)
                )
                GROUP BY is_baseline, at_seconds, stage
            )
            GROUP BY at_seconds
            HAVING notEmpty(totals)
        )
    )
    ARRAY JOIN
        arrayPushFront(edges, 0) AS first,
        arrayPushBack(edges, length(all_bands)) AS last
    WHERE {stepSeconds:UInt32} = 0 OR last = length(all_bands)
)
ORDER BY at_seconds, first
