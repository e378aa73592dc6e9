-- What requests around some quantiles spend in each stage: the requests of the band (a quarter octave of their total)
-- that holds the quantile. A row a quantile.
SELECT
    q,
    arrayFirst((band, reached_here) -> reached_here >= q * reached[-1], all_bands, reached) AS band,
    totals[band] AS requests,
    totals_ms[band] / requests AS total_ms,
    arrayMap(s -> (s.1, s.2[band] / requests), stages) AS stage_means
FROM
(
    SELECT
        totals,
        totals_ms,
        stages,
        mapKeys(totals) AS all_bands,
        arrayCumSum(mapValues(totals)) AS reached
    FROM
    (
        SELECT
            mapSort(sumMapIf(amounts, stage = 'total')) AS totals,
            sumMapIf(amounts_ms, stage = 'total') AS totals_ms,
            groupArrayIf((stage, amounts), stage != 'total') AS stages
        FROM
        (
            SELECT stage, sumMap(bands) AS amounts, sumMap(bands_ms) AS amounts_ms
            FROM {table:Identifier}
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
              AND NOT startsWith(stage, 'objective: ')
            GROUP BY stage
        )
    )
    WHERE notEmpty(totals)
)
ARRAY JOIN {levels:Array(Float64)} AS q
ORDER BY q
