-- What requests had in common: by facet and value, how many there were and how many of them were slow,
-- in a range and in another one to compare it with. Slow is a total in `slowBand` or above (bands: a
-- quarter octave each, band 0 begins at 1 ms).
SELECT
    facet,
    value,
    sumIf(d.requests, is_now) AS requests,
    sumIf(arraySum((band, n) -> if(band >= {slowBand:Int16}, n, 0), mapKeys(d.bands), mapValues(d.bands)), is_now) AS slow,
    sumIf(d.requests, NOT is_now) AS usual_requests,
    sumIf(arraySum((band, n) -> if(band >= {slowBand:Int16}, n, 0), mapKeys(d.bands), mapValues(d.bands)), NOT is_now) AS usual_slow
FROM
(
    SELECT facet, value, drivers_1m.requests AS requests, bands,
        window_start >= toDateTime({fromSeconds:UInt32}, 'UTC') AND window_start < toDateTime({toSeconds:UInt32}, 'UTC') AS is_now
    FROM drivers_1m
    WHERE model = {model:String}
      AND ({version:String} = '' OR version = {version:String})
      AND (is_now OR (window_start >= toDateTime({usualFromSeconds:UInt32}, 'UTC')
          AND window_start < toDateTime({usualToSeconds:UInt32}, 'UTC')))
) AS d
GROUP BY facet, value
ORDER BY facet, value
