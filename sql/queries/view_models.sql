-- All models over a range, the busiest first, against the same parts of the day over the days before it.
--
-- Quantiles of steps are read from bands, linear between the edges of the band that holds one: up to the width of a band
-- off, a quarter octave, where its requests are all alike; 1 % on average. Those of the range and of its baseline are of
-- the merged digests where {digests:Bool} says so, which is exact and costs a state a series and window; else from bands,
-- both of them. Band 4 k + j begins at 2^k (1 + j / 4) ms. Where range and baseline are in one table, it is read once:
-- {readsOnce:Bool}. Of digests with requests that were given up, given_up and past_given_up have what the percentiles are
-- computed of: docs/explained/given-up.md. All rows say how many models there are, those beyond the limit among them.
--
-- A request is bad that failed or is slow. Which are both is not stored: in each step timeouts are taken for slow, and
-- errors for as slow as the others, as objectives are evaluated by the detector. The objective of a model is the first one
-- whose pattern it matches, counted from 1. Requests within the band that holds a threshold are spread evenly over it.
--
-- A model without any total in the range has no durations of whole requests. Its requests are those of the stage that
-- has the most.
WITH
    (of_model, of_version, of_region, of_type, of_attributes, is_cold) ->
        ({model:String} = '' OR of_model = {model:String})
        AND ({modelContains:String} = '' OR positionCaseInsensitiveUTF8(of_model, {modelContains:String}) > 0)
        AND ({version:String} = '' OR of_version = {version:String})
        AND ({region:String} = '' OR of_region = {region:String})
        AND ({requestType:String} = '' OR of_type = {requestType:String})
        AND (empty({attributePairs:Array(String)}) OR arrayAll(pair -> if(position(pair, '=') < length(pair),
            has(splitByChar(',', of_attributes), pair),
            of_attributes != '__other__' AND position(concat(',', of_attributes), concat(',', pair)) = 0), {attributePairs:Array(String)}))
        AND ({coldStart:String} = '' OR is_cold = ({coldStart:String} = 'true')) AS is_asked,
    stored AS
    (
        SELECT
            window_start < toDateTime({baselineToSeconds:UInt32}, 'UTC') AS is_past,
            model,
            if(is_past,
                intDiv(toUnixTimestamp(window_start) % 86400, {slotSeconds:UInt32}) * {slotSeconds:UInt32},
                intDiv(toUnixTimestamp(window_start), {stepSeconds:UInt32}) * {stepSeconds:UInt32}) AS at,
            requests, errors, timeouts, min_ms, max_ms, bands
        FROM {table:Identifier}
        WHERE stage = 'total'
          AND window_start >= toDateTime(if({readsOnce:Bool}, {baselineFromSeconds:UInt32}, {fromSeconds:UInt32}), 'UTC')
          AND window_start < toDateTime({toSeconds:UInt32}, 'UTC')
          AND (window_start >= toDateTime({fromSeconds:UInt32}, 'UTC')
              OR window_start < toDateTime({baselineToSeconds:UInt32}, 'UTC')
              AND (toUnixTimestamp(window_start) + 86400 - {firstSlot:UInt32}) % 86400 < {slots:UInt32} * {slotSeconds:UInt32})
          AND is_asked(model, version, region, request_type, attributes, cold_start)
        UNION ALL
        SELECT
            true AS is_past,
            model,
            intDiv(toUnixTimestamp(window_start) % 86400, {slotSeconds:UInt32}) * {slotSeconds:UInt32} AS at,
            requests, errors, timeouts, min_ms, max_ms, bands
        FROM latency_1h
        WHERE NOT {readsOnce:Bool} AND stage = 'total'
          AND window_start >= toDateTime({baselineFromSeconds:UInt32}, 'UTC')
          AND window_start < toDateTime({baselineToSeconds:UInt32}, 'UTC')
          AND (toUnixTimestamp(window_start) + 86400 - {firstSlot:UInt32}) % 86400 < {slots:UInt32} * {slotSeconds:UInt32}
          AND is_asked(model, version, region, request_type, attributes, cold_start)
    ),
    parts AS
    (
        SELECT
            is_past, model, at,
            sum(s.requests) AS requests,
            sum(s.errors) AS errors,
            sum(s.timeouts) AS timeouts,
            min(s.min_ms) AS least_ms,
            max(s.max_ms) AS largest_ms,
            sumMap(s.bands) AS bands
        FROM stored AS s
        GROUP BY is_past, model, at
    ),
    parts_and_wholes AS
    (
        SELECT
            is_past, model, at,
            grouping(at) = 1 AS is_whole,
            sum(p.requests) AS requests,
            sum(p.errors) AS errors,
            sum(p.timeouts) AS timeouts,
            min(p.least_ms) AS least_ms,
            max(p.largest_ms) AS largest_ms,
            mapSort(sumMap(p.bands)) AS bands
        FROM parts AS p
        GROUP BY GROUPING SETS ((is_past, model, at), (is_past, model))
    ),
    measured AS
    (
        SELECT
            is_past, is_whole, model, at, requests, errors, timeouts,
            [0.5, 0.95, 0.99] AS levels,
            mapKeys(bands) AS keys,
            mapValues(bands) AS amounts,
            arrayCumSum(amounts) AS sums,
            arrayMap(q -> arrayFirstIndex(sum -> sum >= q * sums[-1], sums), levels) AS found,
            arrayMap((q, i) -> least(largest_ms, greatest(least_ms,
                exp2(floor(keys[i] / 4))
                * (1 + (keys[i] - 4 * floor(keys[i] / 4) + (q * sums[-1] - sums[i]) / amounts[i] + 1) / 4))),
                levels, found) AS q_ms
        FROM parts_and_wholes
    ),
    exact AS
    (
        SELECT
            model,
            anyIf(percentiles_ms, NOT is_past) AS q_ms,
            anyOrNullIf(percentiles_ms[3], is_past) AS baseline_p99_ms,
            anyIf((censored, ended_digest, censored_digest, mixed_digest, min_ms, max_ms), NOT is_past) AS given_up,
            anyIf((censored, ended_digest, censored_digest, mixed_digest, min_ms, max_ms), is_past) AS past_given_up
        FROM
        (
            SELECT
                is_past, model,
                sum(l.censored) AS censored,
                if(
                    censored = 0,
                    finalizeAggregation(quantilesTDigestMergeStateIf(0.5, 0.95, 0.99)(l.latency, NOT l.has_censored) AS whole),
                    finalizeAggregation(
                        whole
                        + (quantilesTDigestMergeStateIf(0.5, 0.95, 0.99)(l.ended_latency, l.has_censored) AS ended)
                        + (quantilesTDigestMergeStateIf(0.5, 0.95, 0.99)(l.censored_latency, l.has_censored) AS given_up))) AS percentiles_ms,
                if(censored = 0, '', base64Encode(unhex(hex(whole + ended)))) AS ended_digest,
                if(
                    censored = 0,
                    '',
                    base64Encode(unhex(hex(
                        given_up + (quantilesTDigestMergeStateIf(0.5, 0.95, 0.99)(l.censored_latency, NOT l.has_censored) AS mixed))))) AS censored_digest,
                if(censored = 0, '', base64Encode(unhex(hex(mixed)))) AS mixed_digest,
                min(l.min_ms) AS min_ms,
                max(l.max_ms) AS max_ms
            FROM
            (
                SELECT false AS is_past, model, min_ms, max_ms, latency, censored, censored_latency, has_censored, ended_latency
                FROM {coarseTable:Identifier}
                WHERE {digests:Bool} AND stage = 'total'
                  AND window_start >= toDateTime({coarseFromSeconds:UInt32}, 'UTC')
                  AND window_start < toDateTime({coarseToSeconds:UInt32}, 'UTC')
                  AND is_asked(model, version, region, request_type, attributes, cold_start)
                UNION ALL
                SELECT false AS is_past, model, min_ms, max_ms, latency, censored, censored_latency, has_censored, ended_latency
                FROM {table:Identifier}
                WHERE {digests:Bool} AND stage = 'total'
                  AND window_start >= toDateTime({fromSeconds:UInt32}, 'UTC')
                  AND window_start < toDateTime({toSeconds:UInt32}, 'UTC')
                  AND NOT (window_start >= toDateTime({coarseFromSeconds:UInt32}, 'UTC')
                      AND window_start < toDateTime({coarseToSeconds:UInt32}, 'UTC'))
                  AND is_asked(model, version, region, request_type, attributes, cold_start)
                UNION ALL
                SELECT true AS is_past, model, min_ms, max_ms, latency, censored, censored_latency, has_censored, ended_latency
                FROM latency_1h
                WHERE {digests:Bool} AND stage = 'total'
                  AND window_start >= toDateTime({baselineFromSeconds:UInt32}, 'UTC')
                  AND window_start < toDateTime({baselineToSeconds:UInt32}, 'UTC')
                  AND (toUnixTimestamp(window_start) + 86400 - {firstSlot:UInt32}) % 86400 < {slots:UInt32} * {slotSeconds:UInt32}
                  AND is_asked(model, version, region, request_type, attributes, cold_start)
            ) AS l
            GROUP BY is_past, model
        )
        GROUP BY model
    ),
    models AS
    (
        SELECT
            model,
            maxIf(m.requests, NOT is_past AND is_whole) AS requests,
            maxIf(m.errors + m.timeouts, NOT is_past AND is_whole) AS failed,
            groupArrayIf((toFloat64(m.requests), m.errors, toFloat64(m.timeouts), m.keys, m.amounts), NOT is_past AND NOT is_whole) AS counted,
            anyIf(m.q_ms, NOT is_past AND is_whole) AS q_ms,
            anyOrNullIf(m.q_ms[3], is_past AND is_whole) AS baseline_p99_ms,
            groupArrayIf((toUInt32(at), m.q_ms[3]), NOT is_past AND NOT is_whole) AS steps,
            groupArrayIf((toUInt32(at), m.q_ms[3]), is_past AND NOT is_whole) AS past,
            mapFromArrays(steps.1, steps.2) AS step_ms,
            mapFromArrays(past.1, past.2) AS past_ms
        FROM measured AS m
        GROUP BY model
        HAVING requests > 0
    ),
    judged AS
    (
        SELECT
            model, requests, failed, q_ms, baseline_p99_ms, step_ms, past_ms,
            arrayFirstIndex(pattern -> model LIKE pattern, CAST({objectiveModels:Array(String)} AS Array(String))) AS objective,
            CAST({objectiveThresholds:Array(Float64)} AS Array(Float64))[objective] AS threshold_ms,
            CAST({objectiveShares:Array(Float64)} AS Array(Float64))[objective] AS objective_share,
            if(objective = 0, [], counted) AS judged_steps,
            arrayMap(step -> arraySum(
                (key, amount) -> amount * least(1, greatest(0,
                    key - 4 * floor(key / 4) + 5 - 4 * threshold_ms / exp2(floor(key / 4)))),
                step.4, step.5), judged_steps) AS slow,
            arraySum(
                (step, slower) -> least(step.1, greatest(slower, step.3) + step.2 * (1 - slower / step.1)),
                judged_steps, slow) AS bad,
            if(objective = 0, NULL, greatest(0, 1 - bad / requests)) AS good,
            if(objective = 0, NULL, 1 - bad / requests / (1 - objective_share)) AS budget_left
        FROM models
    ),
    without_total AS
    (
        SELECT
            model,
            argMax(stage, (stage_requests, stage NOT IN {measures:Array(String)}, stage)) AS counted_stage,
            argMax(stage_failed, (stage_requests, stage NOT IN {measures:Array(String)}, stage)) AS failed,
            max(stage_requests) AS requests
        FROM
        (
            SELECT model, stage, sum(s.requests) AS stage_requests, sum(s.errors) + sum(s.timeouts) AS stage_failed
            FROM {table:Identifier} AS s
            WHERE stage NOT IN ('total', 'inter_token_latency') AND NOT startsWith(stage, 'objective: ')
              AND window_start >= toDateTime({fromSeconds:UInt32}, 'UTC')
              AND window_start < toDateTime({toSeconds:UInt32}, 'UTC')
              AND model NOT IN
              (
                  SELECT model
                  FROM {table:Identifier}
                  WHERE stage = 'total'
                    AND window_start >= toDateTime({fromSeconds:UInt32}, 'UTC')
                    AND window_start < toDateTime({toSeconds:UInt32}, 'UTC')
                    AND is_asked(model, version, region, request_type, attributes, cold_start)
              )
              AND is_asked(model, version, region, request_type, attributes, cold_start)
            GROUP BY model, stage
        )
        GROUP BY model
    )
SELECT *, count() OVER () AS total_models
FROM
(
    SELECT
        m.model AS model,
        'total' AS counted_stage,
        m.requests AS requests,
        m.failed AS failed,
        if({digests:Bool}, e.q_ms[1], m.q_ms[1]) AS p50_ms,
        if({digests:Bool}, e.q_ms[2], m.q_ms[2]) AS p95_ms,
        if({digests:Bool}, e.q_ms[3], m.q_ms[3]) AS p99_ms,
        if({digests:Bool}, e.baseline_p99_ms, m.baseline_p99_ms) AS baseline_p99_ms,
        p99_ms / baseline_p99_ms AS ratio,
        e.given_up AS given_up,
        e.past_given_up AS past_given_up,
        arrayMap(
            at -> if(mapContains(step_ms, at), toNullable(step_ms[at]), NULL),
            range({fromSeconds:UInt32}, {toSeconds:UInt32}, {stepSeconds:UInt32})) AS p99_steps_ms,
        arrayMap(
            at -> if(
                mapContains(past_ms, intDiv(at % 86400, {slotSeconds:UInt32}) * {slotSeconds:UInt32}),
                toNullable(past_ms[intDiv(at % 86400, {slotSeconds:UInt32}) * {slotSeconds:UInt32}]),
                NULL),
            range({fromSeconds:UInt32}, {toSeconds:UInt32}, {stepSeconds:UInt32})) AS baseline_steps_ms,
        m.objective AS objective,
        m.good AS good,
        m.budget_left AS budget_left
    FROM judged AS m
    LEFT JOIN exact AS e ON e.model = m.model
    UNION ALL
    SELECT
        model, counted_stage, requests, failed,
        NULL AS p50_ms, NULL AS p95_ms, NULL AS p99_ms, NULL AS baseline_p99_ms, NULL AS ratio,
        (toUInt64(0), '', '', '', 0., 0.) AS given_up, given_up AS past_given_up,
        arrayMap(at -> CAST(NULL AS Nullable(Float64)), range({fromSeconds:UInt32}, {toSeconds:UInt32}, {stepSeconds:UInt32})) AS p99_steps_ms,
        p99_steps_ms AS baseline_steps_ms,
        0 AS objective, NULL AS good, NULL AS budget_left
    FROM without_total
)
ORDER BY requests DESC, model
LIMIT {limit:UInt32}
