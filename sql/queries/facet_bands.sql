-- Requests by facet, value and band of their total, in a range and in another one to compare it with (bands: a
-- quarter octave each, band 0 begins at 1 ms). What slow requests have in common, and whether larger ones came.
SELECT
    facet,
    value,
    sumMapIf(bands, is_now) AS now_bands,
    sumMapIf(bands, NOT is_now) AS baseline_bands
FROM
(
    SELECT
        facet,
        value,
        bands,
        window_start >= toDateTime({fromSeconds:UInt32}, 'UTC') AND window_start < toDateTime({toSeconds:UInt32}, 'UTC') AS is_now
    FROM drivers_1m
    WHERE model = {model:String}
      AND if(is_now,
          {version:String} = '' OR version = {version:String},
          -- The baseline of a series that is new is of others.
          ({version:String} = '' OR version IN {baselineVersions:Array(String)})
              AND window_start >= toDateTime({baselineFromSeconds:UInt32}, 'UTC')
              AND window_start < toDateTime({baselineToSeconds:UInt32}, 'UTC'))
)
GROUP BY facet, value
ORDER BY facet, value
