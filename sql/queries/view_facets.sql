-- Requests of a model by facet and its value: how many, by the band of their total, and percentiles of it. Facets are
-- stored by model and version only. Bands are a quarter octave each, and band 0 begins at 1 ms: a percentile lies
-- between the edges of its band, and `quantiles_ms` is as if durations were spread evenly over it. The values with
-- most requests come first; beyond the limit of a facet, the others are left out.
WITH
    band -> exp2(floor(band / 4)) * (1 + positiveModulo(band, 4) / 4) AS edge,
    arraySort(part -> part.1, arrayZip(mapKeys(amounts), mapValues(amounts))) AS parts,
    arrayCumSum(part -> part.2, parts) AS reached,
    -- The band in which each share of the requests is reached.
    arrayMap(q -> greatest(1, arrayFirstIndex(n -> n >= q * reached[-1], reached)), {levels:Array(Float64)}) AS at
SELECT
    facet,
    value,
    sum(d.requests) AS requests,
    toUnixTimestamp(min(d.window_start)) AS first_seconds,
    toUnixTimestamp(max(d.window_start)) AS last_seconds,
    sumMap(d.bands) AS amounts,
    arrayMap(i -> edge(parts[i].1), at) AS low_ms,
    arrayMap(i -> edge(parts[i].1 + 1), at) AS high_ms,
    arrayMap(
        (q, i, low, high) -> low + (high - low) * (q * reached[-1] - (reached[i] - parts[i].2)) / parts[i].2,
        {levels:Array(Float64)}, at, low_ms, high_ms) AS quantiles_ms
FROM drivers_1m AS d
WHERE model = {model:String}
  AND window_start >= toDateTime({fromSeconds:UInt32}, 'UTC')
  AND window_start < toDateTime({toSeconds:UInt32}, 'UTC')
  AND ({version:String} = '' OR version = {version:String})
  AND facet IN {facets:Array(String)}
GROUP BY facet, value
ORDER BY facet, requests DESC, value
LIMIT {limit:UInt32} BY facet
