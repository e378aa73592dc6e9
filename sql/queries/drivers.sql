-- What requests had in common: by facet and value, how many there were and how many of them were slow,
-- in a range and in another one to compare it with. Slow is a total in `slowBand` or above (bands: a
-- quarter octave each, band 0 begins at 1 ms).
SELECT
    facet,
    value,
    sumIf(n, is_now) AS requests,
    sumIf(n_slow, is_now) AS slow,
    sumIf(n, NOT is_now) AS usual_requests,
    sumIf(n_slow, NOT is_now) AS usual_slow
FROM
(
    SELECT
        facet,
        value,
        drivers_1m.requests AS n,
        arraySum(mapValues(mapFilter((band, amount) -> band >= {slowBand:Int16}, bands))) AS n_slow,
        window_start >= toDateTime({fromSeconds:UInt32}, 'UTC') AND window_start < toDateTime({toSeconds:UInt32}, 'UTC') AS is_now
    FROM drivers_1m
    WHERE model = {model:String}
      AND ({version:String} = '' OR version = {version:String})
      AND (is_now OR (window_start >= toDateTime({usualFromSeconds:UInt32}, 'UTC')
          AND window_start < toDateTime({usualToSeconds:UInt32}, 'UTC')))
)
GROUP BY facet, value
ORDER BY facet, value
